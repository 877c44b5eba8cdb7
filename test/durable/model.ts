// The rules of the store as a few plain sentences, written apart from the program to be held against it.

export type Status = "available" | "pending" | "sold";

/** A pet as the model knows it: units that can be ordered, orders that are open, and whether staff hold it. */
export interface ModelPet {
  id: number;
  name: string;
  categoryId: number;
  stock: number;
  open: number;
  held: boolean;
}

export interface ModelOrder {
  id: number;
  petId: number | null;
  quantity: number | null;
  shipDate: string | null;
  complete: boolean;
}

/** What an operation must be answered with. */
export interface Expected {
  readonly status: number;
  readonly code?: string;
  readonly body?: unknown;
}

export interface OrderPatch {
  readonly petId?: number | null | undefined;
  readonly quantity?: number | null | undefined;
  readonly shipDate?: string | null | undefined;
  readonly complete?: boolean | undefined;
}

export interface PetPatch {
  readonly name?: string | undefined;
  readonly categoryId?: number | undefined;
  readonly status?: Status | undefined;
}

/** A status is no more than this: nothing left and nothing open, nothing left, held, or free. */
export function statusOf({ stock, open, held }: ModelPet): Status {
  if (stock === 0) return open === 0 ? "sold" : "pending";
  return held ? "pending" : "available";
}

export class Model {
  readonly pets = new Map<number, ModelPet>();
  readonly orders = new Map<number, ModelOrder>();
  readonly categories = new Set<number>();

  constructor(readonly now: string) {}

  /** What a creation must be answered with; the new pets are known by `born`. */
  createPets(pets: readonly PetPatch[]): string | null {
    return pets.every(({ categoryId }) => this.categories.has(categoryId as number))
      ? null
      : "422 unknown_category";
  }

  born(id: number, { name, categoryId, status }: PetPatch): ModelPet {
    const pet: ModelPet = {
      id,
      name: name as string,
      categoryId: categoryId as number,
      stock: status === "sold" ? 0 : 1,
      open: 0,
      held: status === "pending",
    };
    this.pets.set(id, pet);
    return pet;
  }

  changePet(id: number, patch: PetPatch): Expected {
    const pet = this.pets.get(id);
    if (!pet) return refused(404, "pet_not_found");
    if (patch.categoryId !== undefined && !this.categories.has(patch.categoryId))
      return refused(422, "unknown_category");
    const from = statusOf(pet);
    const to = patch.status ?? from;
    if (to !== from) {
      if (to === "sold") {
        if (pet.open > 0) return refused(409, "pet_has_open_orders");
        this.setUnits(pet, 0);
      } else if (from === "sold") {
        this.setUnits(pet, 1);
        pet.held = to === "pending";
      } else if (to === "available") {
        if (pet.stock === 0) return refused(409, "invalid_status_transition");
        pet.held = false;
      } else pet.held = true;
    }
    pet.name = patch.name ?? pet.name;
    pet.categoryId = patch.categoryId ?? pet.categoryId;
    return { status: 200, body: shownPet(pet) };
  }

  removePet(id: number): Expected {
    const pet = this.pets.get(id);
    if (!pet) return refused(404, "pet_not_found");
    if (pet.open > 0) return refused(409, "pet_has_open_orders");
    this.pets.delete(id);
    return { status: 204 };
  }

  removeCategory(id: number): Expected {
    if (!this.categories.has(id)) return refused(404, "category_not_found");
    if ([...this.pets.values()].some(({ categoryId }) => categoryId === id))
      return refused(409, "category_in_use");
    this.categories.delete(id);
    return { status: 204 };
  }

  setStock(id: number, quantity: number): Expected {
    const pet = this.pets.get(id);
    if (!pet) return refused(404, "pet_not_found");
    this.setUnits(pet, quantity);
    return { status: 200, body: shownItem(pet) };
  }

  /** The order that must come back, without its id; or why there is none. */
  place({
    petId,
    quantity,
    shipDate,
    complete = false,
  }: OrderPatch): Expected & { order?: Omit<ModelOrder, "id"> } {
    if (petId === undefined || petId === null) {
      if (complete) return refused(409, "order_is_draft");
      const draft = { petId: null, quantity: quantity ?? null, shipDate: shipDate ?? null, complete };
      return { status: 201, order: draft };
    }
    const units = quantity ?? 1;
    const refusal = this.take(petId, units);
    if (refusal) return refusal;
    if (!complete) this.pet(petId).open += 1;
    const shipped = shipDate ?? (complete ? this.now : null);
    return { status: 201, order: { petId, quantity: units, shipDate: shipped, complete } };
  }

  changeOrder(id: number, patch: OrderPatch): Expected {
    const order = this.orders.get(id);
    if (!order) return refused(404, "order_not_found");
    const wanted = { ...order, ...given(patch) } as ModelOrder;
    if (wanted.petId !== null) wanted.quantity ??= 1;
    const completes = wanted.complete && !order.complete;
    if (completes) wanted.shipDate = patch.shipDate ?? this.now;
    if (Bun.deepEquals(order, wanted)) return { status: 200, body: shownOrder(order) };
    if (order.complete) return refused(409, "order_complete");
    if (completes && wanted.petId === null) return refused(409, "order_is_draft");

    if (order.petId === wanted.petId) {
      const more = order.petId === null ? 0 : (wanted.quantity as number) - (order.quantity as number);
      const refusal = more > 0 ? this.take(order.petId as number, more) : undefined;
      if (refusal) return refusal;
      if (more < 0) this.giveBack(order.petId as number, -more);
    } else {
      const refusal = wanted.petId === null ? undefined : this.take(wanted.petId, wanted.quantity as number);
      if (refusal) return refusal;
      if (wanted.petId !== null) this.pet(wanted.petId).open += 1;
      this.letGo(order);
    }
    if (completes) this.pet(wanted.petId as number).open -= 1;
    Object.assign(order, wanted);
    return { status: 200, body: shownOrder(order) };
  }

  cancel(id: number): Expected {
    const order = this.orders.get(id);
    if (!order) return refused(404, "order_not_found");
    if (order.complete) return refused(409, "order_complete");
    this.letGo(order);
    this.orders.delete(id);
    return { status: 204 };
  }

  private pet(id: number): ModelPet {
    return this.pets.get(id) as ModelPet;
  }

  private take(petId: number, units: number): Expected | undefined {
    const pet = this.pets.get(petId);
    if (!pet) return refused(422, "unknown_pet");
    if (statusOf(pet) !== "available") return refused(409, "pet_not_available");
    if (pet.stock < units) return refused(409, "insufficient_stock");
    this.setUnits(pet, pet.stock - units);
    return undefined;
  }

  private giveBack(petId: number, units: number): void {
    const pet = this.pet(petId);
    this.setUnits(pet, pet.stock + units);
  }

  /** An open order leaves its pet. */
  private letGo({ petId, quantity }: ModelOrder): void {
    if (petId === null) return;
    this.giveBack(petId, quantity as number);
    this.pet(petId).open -= 1;
  }

  /** A hold ends when stock crosses zero. */
  private setUnits(pet: ModelPet, stock: number): void {
    if (stock === 0) pet.held = false;
    pet.stock = stock;
  }
}

export function shownPet(pet: ModelPet): unknown {
  return { id: pet.id, name: pet.name, categoryId: pet.categoryId, status: statusOf(pet) };
}

export function shownItem(pet: ModelPet): unknown {
  return { petId: pet.id, quantity: pet.stock, status: statusOf(pet) };
}

export function shownOrder(order: ModelOrder): unknown {
  return given({
    id: order.id,
    petId: order.petId ?? undefined,
    quantity: order.quantity ?? undefined,
    shipDate: order.shipDate ?? undefined,
    complete: order.complete,
  });
}

/** The fields that have a value. */
function given<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function refused(status: number, code: string): Expected {
  return { status, code };
}
