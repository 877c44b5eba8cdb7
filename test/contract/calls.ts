import { afterAll, beforeAll, expect, test } from "bun:test";
import { errors, isWorthRetrying } from "../../src/contract/errors.ts";
import type { Endpoint } from "../../src/contract/route.ts";
import { aStore, type Person, type Reply, type Sent, type TestStore } from "../harness.ts";

/** A request that its endpoint takes: all that it names is there, and its sender may send it. */
export interface Call {
  readonly by: Person;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  /** Sends it, changed as the test wants. */
  send(changed?: Sent & { by?: Person; method?: string; path?: string; query?: string }): Promise<Reply>;
}

/** One store for a file of tests. */
export function theStore(env: Record<string, string> = {}): TestStore {
  const opened: { store?: TestStore } = {};
  beforeAll(async () => {
    opened.store = await aStore(env);
  });
  afterAll(() => opened.store?.stop());
  return new Proxy({} as TestStore, {
    get: (_, name) => Reflect.get(opened.store as TestStore, name),
  });
}

/** The same sentence about each of the endpoints, as a test of its own. */
export function each(
  endpoints: readonly Endpoint[],
  sentence: string,
  check: (endpoint: Endpoint) => Promise<unknown>,
): void {
  for (const endpoint of endpoints)
    test(`${endpoint.id} ${sentence}`, async () => void (await check(endpoint)));
}

/** A new call of the endpoint, on records of its own. */
export async function aCall(store: TestStore, endpoint: Endpoint): Promise<Call> {
  const { method, path: pattern, route } = endpoint;
  const path = await filled(store, pattern);
  const body = await withKnownIds(store, route.example.body);
  const by = { customer: store.customer, staff: store.staff, admin: store.admin }[route.role];
  return {
    by,
    method,
    path,
    body,
    send: ({
      by: sender = by,
      method: sentMethod = method,
      path: sentPath = path,
      query = "",
      ...sent
    } = {}) =>
      sender.send(sentMethod, sentPath + query, {
        ...(sent.raw === undefined && body !== undefined && { body }),
        ...sent,
      }),
  };
}

/** Calls that are only ever refused change nothing, so each endpoint needs one. */
export function refusedCalls(store: TestStore): (endpoint: Endpoint) => Promise<Call> {
  const calls = new Map<string, Promise<Call>>();
  return (endpoint) => {
    const known = calls.get(endpoint.id) ?? aCall(store, endpoint);
    calls.set(endpoint.id, known);
    return known;
  };
}

/** Proves a refusal: its status and code, what retrying clients go by, and that nothing was stored. */
export async function refused(
  store: TestStore,
  code: keyof typeof errors,
  send: () => Promise<Reply>,
): Promise<Reply> {
  const before = store.snapshot();
  const reply = await send();
  expect([reply.status, reply.body?.code]).toEqual([errors[code].status, code]);
  expect(store.snapshot() === before).toBe(true);
  const { headers } = reply;
  expect(headers.get("x-should-retry")).toBe(isWorthRetrying(code) ? null : "false");
  expect(headers.get("retry-after") ?? "none").toMatch(isWorthRetrying(code) ? /^[1-9]\d*$/ : /^none$/);
  expect(headers.get("www-authenticate")).toBe(reply.status === 401 ? 'Bearer realm="petstore"' : null);
  return reply;
}

/** The fields that a refusal names. */
export function fieldsOf(reply: Reply): string[] {
  return reply.body.details.map(({ field }: { field: string }) => field);
}

/** How a record that a parameter or field names is made. */
const makers: Readonly<Record<string, (store: TestStore) => Promise<number>>> = {
  petId: async (store) => (await store.aPet(5)).id,
  categoryId: async (store) =>
    (await store.staff.post("/categories", { name: "Birds", description: "They sing" })).body.id,
  orderId: async (store) => {
    const { id: petId } = await store.aPet(5);
    return (await store.customer.post("/store/orders", { petId })).body.id;
  },
};

async function make(store: TestStore, name: string): Promise<number> {
  const maker = makers[name];
  if (!maker) throw new Error(`Say in test/contract/calls.ts how what {${name}} names is made.`);
  return maker(store);
}

async function filled(store: TestStore, pattern: string): Promise<string> {
  let path = pattern;
  for (const [placeholder, name] of pattern.matchAll(/\{(\w+)\}/g))
    path = path.replace(placeholder, String(await make(store, name as string)));
  return path;
}

async function withKnownIds(store: TestStore, value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => withKnownIds(store, item)));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(async ([name, field]) => [
    name,
    typeof field === "number" && name in makers ? await make(store, name) : field,
  ]);
  return Object.fromEntries(await Promise.all(fields));
}
