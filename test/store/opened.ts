// An engine that a suite goes through, and what its cases begin with.
import type { OrderRecord, PetRecord, Reads, Writes } from "../../src/core/ports.ts";
import type { Stock } from "../../src/core/status.ts";

/** An engine with an empty, migrated store of its own. */
export interface OpenedStore {
  readonly reads: Reads;
  /** Another connection's view, for what is committed and what is not. */
  readonly otherReads: Reads;
  /** Runs work in a transaction; what it throws undoes it. */
  transact<T>(work: (store: Writes) => Promise<T>): Promise<T>;
  findings(): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

export const NOW = Date.parse("2026-11-15T12:00:00Z");
export const DAY_MS = 24 * 60 * 60 * 1000;

/** What a case begins with: an open store, and a category and a client in it. */
export interface Beginning {
  readonly store: OpenedStore;
  readonly categoryId: number;
  readonly clientId: number;
}

export async function addPet(
  { store, categoryId }: Beginning,
  stock: Partial<Stock> = {},
  name = "Rex",
): Promise<PetRecord> {
  const pet = { name, categoryId, status: "available", quantity: 1, openOrders: 0, ...stock } as const;
  return store.transact(async (s) => (await s.addPet(pet, NOW)) as PetRecord);
}

export function place({ store, clientId }: Beginning, petId: number, quantity = 1, complete = false) {
  const shipDate = complete ? NOW : null;
  return store.transact((s) => placeOrder(s, { clientId, petId, quantity, complete, shipDate }));
}

export async function addCategory(store: Writes, name: string) {
  return store.addCategory({ name, description: null }, NOW);
}

export async function addClient(store: Writes) {
  return store.addClient({ name: "Shop", plan: "pro", perMinute: 300, perDay: 10_000 }, NOW);
}

export async function draft(store: Writes, clientId: number): Promise<OrderRecord> {
  return (await store.addDraft({ clientId, quantity: null, shipDate: null }, NOW)) as OrderRecord;
}

export async function placeOrder(store: Writes, order: Parameters<Writes["placeOrder"]>[0]) {
  return store.placeOrder(order, NOW);
}
