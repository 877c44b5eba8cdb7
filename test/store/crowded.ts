// A store on PostgreSQL whose connections are few, so that orders wait for one and share its transaction.
import { readConfig } from "../../src/config.ts";
import { Failure } from "../../src/core/failure.ts";
import { type Command, type Performed, perform } from "../../src/core/perform.ts";
import type { Writes } from "../../src/core/ports.ts";
import { type Rules, rulesOf } from "../../src/core/rules.ts";
import type { Engine, OpenedStore } from "../../src/store/engine.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { sharedPostgres } from "../servers/postgres.ts";
import { aDoor, type Door } from "../servers/proxy.ts";

export const NOW = Date.parse("2026-11-15T12:00:00Z");
/** What a pet has at first. */
export const UNITS = 1000;
const rules = rulesOf(readConfig({}));

/** What an order meets: before it is placed, or when it has been and is to be told. */
export interface Met {
  before?(): void;
  placed?(): void;
}

export interface CrowdedStore {
  readonly engine: Engine;
  readonly clientId: number;
  readonly door: Door;
  /** On connections of its own, not through the door. */
  readonly beside: OpenedStore;
  anEngine(connections?: number): Engine;
  aPet(quantity?: number): Promise<number>;
  ordering(petId: number, key: string, quantity?: number): Command;
  order(petId: number, key: string, quantity?: number): Promise<Performed>;
  stockOf(petId: number): Promise<number | undefined>;
  query(text: string): Promise<Record<string, unknown>[]>;
  /** How many rows: `count("orders where ...")`. */
  count(rest: string): Promise<number>;
  /** Everything in it adds up, and it is closed. */
  close(): Promise<void>;
}

export async function aCrowdedStore(): Promise<CrowdedStore> {
  const server = await sharedPostgres();
  const address = await server.newStore();
  const url = new URL(address);
  const database = url.pathname.slice(1);
  const door = await aDoor(Number(url.port));
  url.port = String(door.port);
  const beside = await openPostgresStore(address, NOW);
  const { clientId, categoryId } = await beside.transact(async (store) => ({
    clientId: (await store.addClient({ name: "Shop", plan: "pro", perMinute: 1, perDay: 1 }, NOW)).id,
    categoryId: (await store.addCategory({ name: "Dogs", description: null }, NOW)).id,
  }));
  // Of three connections one writes, so that all but the first of several orders wait.
  const anEngine = (connections = 3) =>
    openPostgresEngine({ url: url.href, rules, connections, perform: performed, onFault: () => {} });
  const engine = anEngine();
  const aPet = (quantity = UNITS) => {
    const pet = { name: "Rex", categoryId, status: "available", quantity, openOrders: 0 } as const;
    return beside.transact(async (store) => (await store.addPet(pet, NOW))?.id as number);
  };
  const ordering = (petId: number, key: string, quantity = 1): Command => ({
    operation: "orders.place",
    caller: { clientId, keyId: 1, role: "customer" },
    input: { body: { petId, quantity } },
    now: NOW,
    idempotency: { key, fingerprint: `${petId} ${quantity}` },
  });
  const order: CrowdedStore["order"] = (...asked) => engine.perform(ordering(...asked));
  const query = (text: string) => server.query(text, database);
  await order(await aPet(), "opens the connection");
  return {
    engine,
    clientId,
    door,
    beside,
    anEngine,
    aPet,
    ordering,
    order,
    stockOf: async (petId) => (await beside.reads.pet(petId))?.quantity,
    query,
    count: async (rest) => Number((await query(`select count(*)::int as n from ${rest}`))[0]?.n),
    async close() {
      const { findings } = await beside.diagnose();
      await engine.close();
      await beside.close();
      await door[Symbol.asyncDispose]();
      if (findings.length > 0) throw new Error(JSON.stringify(findings));
    },
  };
}

async function performed(store: Writes, command: Command, rules: Rules): Promise<Performed> {
  const { before, placed } = command.input as Met;
  before?.();
  if (!placed) return perform(store, command, rules);
  return perform({ ...store, emit: async () => placed() }, command, rules);
}

/** The pet that was ordered, or the code of the refusal. */
export function became(asked: Promise<Performed>): Promise<unknown> {
  return asked.then(
    ({ body }) => (body as { petId: number }).petId,
    (error) => (error instanceof Failure ? error.code : error),
  );
}

export function keys(prefix: string, number: number): string[] {
  return Array.from({ length: number }, (_, n) => `${prefix} ${n}`);
}
