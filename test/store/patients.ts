// Stores for the doctor: healthy ones, and the way to harm them.
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import type { Awaitable, OrderRecord, PetRecord, Writes } from "../../src/core/ports.ts";
import type { OpenedStore } from "../../src/store/engine.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { aFolder } from "../cli/command.ts";
import { sharedPostgres } from "../servers/postgres.ts";

export const NOW = Date.parse("2026-11-15T12:00:00Z");

/** A store to be looked at. */
export interface Patient extends Pick<OpenedStore, "transact" | "diagnose">, AsyncDisposable {
  /** Does what no program of ours would do: with every check of the database off. */
  plant(sql: string): Awaitable<void>;
}

/** Pets of the healthy store, by what became of them. */
export interface Healthy {
  readonly open: PetRecord;
  readonly sold: PetRecord;
  readonly held: PetRecord;
  readonly removed: PetRecord;
  readonly order: OrderRecord;
  readonly completed: OrderRecord;
}

/** A store with a pet of each fate: an open order, a sale, a hold, a removal, and a draft beside them. */
export function healthy({ transact }: Pick<OpenedStore, "transact">): Promise<Healthy> {
  return transact(async (store): Promise<Healthy> => {
    const { id: categoryId } = await store.addCategory({ name: "Dogs", description: null }, NOW);
    const { id: clientId } = await store.addClient(
      { name: "Shop", plan: "pro", perMinute: 1, perDay: 1 },
      NOW,
    );
    const [open, sold, removed] = [
      await addPet(store, categoryId, 5),
      await addPet(store, categoryId, 1),
      await addPet(store, categoryId, 2),
    ];
    const held = await addPet(store, categoryId, 2, "pending");
    const order = await place(store, clientId, open.id, 2, false);
    const completed = await place(store, clientId, sold.id, 1, true);
    await place(store, clientId, removed.id, 1, true);
    const before = (await store.pet(removed.id)) as PetRecord;
    if (!(await store.removePet(before, NOW))) throw new Error("the pet was not removed");
    await store.addDraft({ clientId, quantity: null, shipDate: null }, NOW);
    return { open, sold, held, removed, order, completed };
  });
}

export async function addPet(
  store: Writes,
  categoryId: number,
  quantity: number,
  status: PetRecord["status"] = "available",
): Promise<PetRecord> {
  const pet = await store.addPet({ name: "Rex", categoryId, status, quantity, openOrders: 0 }, NOW);
  return pet as PetRecord;
}

async function place(
  store: Writes,
  clientId: number,
  petId: number,
  quantity: number,
  complete: boolean,
): Promise<OrderRecord> {
  const shipDate = complete ? NOW : null;
  const placed = await store.placeOrder({ clientId, petId, quantity, shipDate, complete }, NOW);
  return (placed as { order: OrderRecord }).order;
}

export async function aFile(): Promise<Patient> {
  const folder = aFolder();
  const store = openStore(folder.database, NOW);
  return {
    ...store,
    plant(sql) {
      using database = new Database(folder.database);
      database.run("pragma foreign_keys = off");
      database.run("pragma ignore_check_constraints = on");
      expect(database.run(sql).changes).toBeGreaterThan(0);
    },
    async [Symbol.asyncDispose]() {
      store.close();
      folder[Symbol.dispose]();
    },
  };
}

const CHECKS = `do $$ declare c record; begin
  for c in select conrelid::regclass as t, conname from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace
  loop execute format('alter table %s drop constraint %I', c.t, c.conname); end loop; end $$`;

export async function aPostgresDatabase(): Promise<Patient> {
  const server = await sharedPostgres();
  const url = await server.newStore();
  const store = await openPostgresStore(url, NOW);
  return {
    ...store,
    async plant(sql) {
      await server.query(
        `${CHECKS}; set session_replication_role = replica; ${sql}`,
        new URL(url).pathname.slice(1),
      );
    },
    [Symbol.asyncDispose]: async () => store.close(),
  };
}
