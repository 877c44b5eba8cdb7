import type { PetstoreApi } from "../contract/api.ts";
import type { ErrorDetail, Int64, NewPet, PetStatus } from "../contract/shapes.ts";
import { after } from "./after.ts";
import {
  type Operations,
  type ReadContext,
  requireMatch,
  requireSameId,
  type WriteContext,
} from "./context.ts";
import { Conflict, fail } from "./failure.ts";
import { foldName, namedSo } from "./names.ts";
import { cursorAfter, pageOf, readCursor } from "./pages.ts";
import type { Awaitable, ListedPet, PetRecord } from "./ports.ts";
import { shownPet } from "./shown.ts";
import { some } from "./some.ts";
import { newStock, type Stock, setStatus } from "./status.ts";
import { tellStock } from "./stock.ts";
import { petPart, petTag, storePetTag } from "./tags.ts";

export const pets: Operations<PetstoreApi["pets"]> = {
  list(cx, { id, status, categoryId, name, sort, limit, cursor }) {
    const order = sort ?? (name === undefined ? "id" : "name");
    const byName = order.endsWith("name");
    if (name !== undefined && !byName) refuseSort(order);
    const records = cx.store.pets({
      sort: byName ? "name" : "id",
      descending: order.startsWith("-"),
      ids: id,
      statuses: status,
      categoryId,
      namePrefix: name === undefined ? undefined : foldName(name),
      after: readCursor(cursor, "pets", order, byName ? "string" : "number"),
      limit: limit + 1,
    });
    const cursorOf = (last: ListedPet) =>
      cursorAfter("pets", order, { key: byName ? foldName(last.name) : last.id, id: last.id });
    return after(records, (found) => namedSo(pageOf(found, limit, asListed, cursorOf), name));
  },

  async create(cx, { body }) {
    const pet = await addPet(cx, body);
    if (!pet) refuseCategory(body.categoryId);
    return tagged(pet);
  },

  async createMany(cx, { body }) {
    await refuseUnknownCategories(cx, body);
    // All are sent before the first is answered, which a database elsewhere takes in one round trip; and all are waited
    // for, so that nothing is done after a failure.
    const added = await Promise.allSettled(body.map((each) => addPet(cx, each)));
    return { body: added.map((each) => shownPet(addedPet(each))) };
  },

  get(cx, { petId }) {
    return after(knownPet(cx, petId), tagged);
  },

  async replace(cx, { petId, body }) {
    return changePet(cx, petId, body);
  },

  async update(cx, { petId, body }) {
    return changePet(cx, petId, body);
  },

  async remove(cx, { petId }) {
    const before = await matchingPet(cx, petId);
    if (before.openOrders > 0) fail("pet_has_open_orders", openOrders(before, "removed"));
    if (!(await cx.store.removePet(before, cx.now))) throw new Conflict();
    cx.emit("pet.deleted", `pets/${before.id}`, shownPet(before));
    return { body: undefined };
  },
};

/** A list reads what it shows. */
const asListed = (pet: ListedPet) => pet;

/** What is told of a pet, with its tag. */
function tagged(pet: PetRecord) {
  return { body: shownPet(pet), tag: petTag(pet) };
}

/** The pet, or 404. */
export function knownPet(cx: ReadContext, petId: Int64): Awaitable<PetRecord> {
  return after(cx.store.pet(petId), foundPet, petId);
}

function foundPet(pet: PetRecord | null, petId: Int64): PetRecord {
  return pet ?? noPet(petId);
}

export function noPet(petId: Int64): never {
  fail("pet_not_found", `There is no pet ${petId}. Find ids with GET /pets.`);
}

async function addPet(
  cx: WriteContext,
  { name, categoryId, status = "available" }: NewPet,
): Promise<PetRecord | null> {
  const pet = await cx.store.addPet({ name, categoryId, ...newStock(status, cx.rules.newPetStock) }, cx.now);
  if (pet) cx.emit("pet.created", `pets/${pet.id}`, shownPet(pet));
  return pet;
}

function addedPet(settled: PromiseSettledResult<PetRecord | null>): PetRecord {
  if (settled.status === "rejected") throw settled.reason;
  if (!settled.value) throw new Conflict();
  return settled.value;
}

interface PetFields {
  id?: Int64 | undefined;
  name?: string | undefined;
  categoryId?: Int64 | undefined;
  status?: PetStatus | undefined;
}

async function changePet(cx: WriteContext, petId: Int64, fields: PetFields) {
  const before = await matchingPet(cx, petId);
  requireSameId(fields.id, petId);
  const { name = before.name, categoryId = before.categoryId, status = before.status } = fields;
  if (categoryId !== before.categoryId && !(await cx.store.category(categoryId))) {
    refuseCategory(categoryId);
  }
  const stock = stockWithStatus(before, status);
  const isSame = name === before.name && categoryId === before.categoryId;
  if (isSame && stock.status === before.status) return tagged(before);

  const reason = stock.status === "sold" ? "sold" : "returned";
  const pet = await cx.store.changePet(before, { name, categoryId, stock, reason }, cx.now);
  if (!pet) throw new Conflict();
  if (!isSame) cx.emit("pet.updated", `pets/${pet.id}`, shownPet(pet));
  tellStock(cx, before, pet);
  return tagged(pet);
}

/** The pet as the caller last saw it, through either representation; an order, or a word about its category, does not change it. */
async function matchingPet(cx: WriteContext, petId: Int64): Promise<PetRecord> {
  const pet = (await cx.store.petWithCategory(petId)) ?? noPet(petId);
  const { ifMatch = [] } = cx;
  const sawStock = ifMatch !== "any" && ifMatch.some((tag) => tag !== petPart(tag));
  requireMatch(cx, sawStock ? storePetTag(pet) : petTag(pet), petPart);
  return pet;
}

function stockWithStatus(before: PetRecord, status: PetStatus): Stock {
  const stock = setStatus(before, status);
  if (stock === "pet_has_open_orders") fail(stock, openOrders(before, "set to sold"));
  if (stock === "invalid_status_transition") {
    fail(
      stock,
      `Pet ${before.id} is ${before.status} with nothing in stock and cannot become ${status}. Restock it with PUT /store/inventory/${before.id}.`,
    );
  }
  return stock;
}

async function refuseUnknownCategories(cx: WriteContext, batch: readonly NewPet[]): Promise<void> {
  const known = new Map<Int64, boolean>();
  const details: ErrorDetail[] = [];
  for (const [index, { categoryId }] of batch.entries()) {
    if (!known.has(categoryId)) known.set(categoryId, (await cx.store.category(categoryId)) !== null);
    if (!known.get(categoryId))
      details.push({ field: `[${index}].categoryId`, message: unknownCategory(categoryId) });
  }
  if (details.length > 0) {
    fail(
      "unknown_category",
      `${details.length} of ${some(batch.length, "pet")} ${details.length === 1 ? "names" : "name"} a category that does not exist; none was created.`,
      details,
    );
  }
}

function refuseSort(order: string): never {
  const message = `must be name or -name together with a name filter, got ${order}`;
  fail("invalid_parameter", `The parameter sort ${message}.`, [{ field: "sort", message }]);
}

function refuseCategory(categoryId: Int64): never {
  const message = unknownCategory(categoryId);
  fail("unknown_category", message, [{ field: "categoryId", message }]);
}

function unknownCategory(categoryId: Int64): string {
  return `There is no category ${categoryId}. Create it first, or use the id of an existing one.`;
}

function openOrders(pet: PetRecord, what: string): string {
  const those = pet.openOrders === 1 ? "it" : "them";
  return `Pet ${pet.id} has ${some(pet.openOrders, "open order")} and cannot be ${what}. Complete or cancel ${those} first. Find ids with GET /store/orders?petId=${pet.id}&complete=false.`;
}
