import { afterAll, beforeAll, expect, test } from "bun:test";
import { errors } from "../../src/contract/errors.ts";
import { isWorthRetrying } from "../../src/contract/owed.ts";
import type { Endpoint } from "../../src/contract/route.ts";
import { KEY_BYTES } from "../../src/core/key-format.ts";
import { perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
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

/** What lets a file of tests ask as often as it wants without a key. */
const PLENTY_FOR_NOBODY = { ANONYMOUS_PER_MINUTE: "1000000", ANONYMOUS_PER_DAY: "100000000" };

/** One store for a file of tests. */
export function theStore(env: Record<string, string> = {}): TestStore {
  const opened: { store?: TestStore } = {};
  beforeAll(async () => {
    opened.store = await aStore({ ...PLENTY_FOR_NOBODY, ...env });
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

/** A new call of the endpoint, on records of its own; `sender` is who sends it, if that matters. */
export async function aCall(store: TestStore, endpoint: Endpoint, sender?: Person): Promise<Call> {
  const { id, method, path: pattern, route } = endpoint;
  const isPersonal = /^\/(account\/keys|webhooks)/.test(pattern) || route.uncounted;
  const by =
    sender ??
    (isPersonal
      ? await store.newPerson(route.role)
      : { customer: store.customer, staff: store.staff, admin: store.admin }[route.role]);
  const path = await filled(store, pattern, { ...makers, ...ownMakers[id] }, by);
  const body = await withKnownIds(store, route.example.body, by);
  return {
    by,
    method,
    path,
    body,
    send: ({
      by: sentBy = by,
      method: sentMethod = method,
      path: sentPath = path,
      query = "",
      ...sent
    } = {}) =>
      sentBy.send(sentMethod, sentPath + query, {
        ...(sent.raw === undefined && body !== undefined && { body }),
        ...sent,
      }),
  };
}

/** Calls that are only ever refused change nothing, so each endpoint needs one. */
export function refusedCalls(store: TestStore): (endpoint: Endpoint) => Promise<Call> {
  const calls = new Map<string, Promise<Call>>();
  return (endpoint) => {
    // A key may send only so many questions about its limits.
    if (endpoint.route.uncounted) return aCall(store, endpoint);
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
  const before = await store.snapshot();
  const reply = await send();
  expect([reply.status, reply.body?.code]).toEqual([errors[code].status, code]);
  expect((await store.snapshot()) === before).toBe(true);
  const { headers } = reply;
  expect(headers.get("x-should-retry")).toBe(isWorthRetrying(code) ? null : "false");
  const hasEnd = isWorthRetrying(code) || code === "key_banned" || code === "daily_quota_exceeded";
  expect(headers.get("retry-after") ?? "none").toMatch(hasEnd ? /^[1-9]\d*$/ : /^none$/);
  expect(headers.get("www-authenticate")).toBe(reply.status === 401 ? 'Bearer realm="petstore"' : null);
  return reply;
}

/** The fields that a refusal names. */
export function fieldsOf(reply: Reply): string[] {
  return reply.body.details.map(({ field }: { field: string }) => field);
}

type Makers = Readonly<Record<string, (store: TestStore, by: Person, path: string) => Promise<number>>>;

/** How a record that a parameter or field names is made. */
const makers: Makers = {
  petId: async (store) => (await store.aPet(5)).id,
  categoryId: async (store) =>
    (await store.staff.post("/categories", { name: "Birds", description: "They sing" })).body.id,
  orderId: async (store) => {
    const { id: petId } = await store.aPet(5);
    return (await store.customer.post("/store/orders", { petId })).body.id;
  },
  clientId: async (store) => (await store.newPerson("customer")).clientId,
  keyId: async (store) => (await store.newPerson("customer")).keyId,
  webhookId: aWebhook,
  deliveryId: (store, by, path) =>
    madeBeside(store, by, "webhooks.ping", { webhookId: Number(path.split("/")[2]) }),
};

/** What a parameter names to these endpoints alone. */
const ownMakers: Readonly<Record<string, Makers>> = {
  "account.keys.get": { keyId: secondKey },
  "account.keys.revoke": { keyId: secondKey },
  "account.keys.rotate": { keyId: secondKey },
  "admin.webhooks.get": { webhookId: anyonesWebhook },
  "admin.webhooks.update": { webhookId: anyonesWebhook },
  "admin.webhooks.deliveries.list": { webhookId: anyonesWebhook },
  "admin.bans.lift": {
    keyId: async (store) => {
      const { keyId } = await store.newPerson("customer");
      const { status } = await store.admin.put(`/admin/keys/${keyId}/ban`, { minutes: 1_000 });
      expect(status).toBe(200);
      return keyId;
    },
  },
};

/** A webhook of some client: a client has twenty at the most. */
async function anyonesWebhook(store: TestStore): Promise<number> {
  return aWebhook(store, await store.newPerson("customer"));
}

function aWebhook(store: TestStore, by: Person): Promise<number> {
  return madeBeside(store, by, "webhooks.create", { body: { url: "https://shop.example/events" } });
}

/** A record of the sender's own that costs it no request. */
export async function madeBeside(
  { beside, clock, config }: TestStore,
  { clientId, keyId }: Pick<Person, "clientId" | "keyId">,
  operation: string,
  input: unknown,
): Promise<number> {
  const random = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const command = {
    operation,
    caller: { clientId, keyId, role: "customer" },
    input,
    now: clock.now,
    random,
  } as const;
  const { body } = await beside.transact((writes) => perform(writes, command, rulesOf(config)));
  return (body as { id: number }).id;
}

/** Another key of the sender's client, so that the sender's own goes on. */
async function secondKey(store: TestStore, { clientId }: Person): Promise<number> {
  return (await store.newPerson("customer", { clientId })).keyId;
}

async function filled(store: TestStore, pattern: string, known: Makers, by: Person): Promise<string> {
  let path = pattern;
  for (const [placeholder, name = ""] of pattern.matchAll(/\{(\w+)\}/g)) {
    const maker = known[name];
    if (!maker) throw new Error(`Say in test/contract/calls.ts how what {${name}} names is made.`);
    path = path.replace(placeholder, String(await maker(store, by, path)));
  }
  return path;
}

async function withKnownIds(store: TestStore, value: unknown, by: Person): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => withKnownIds(store, item, by)));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(async ([name, field]) => [
    name,
    typeof field === "number" && makers[name] ? await makers[name](store, by, "") : field,
  ]);
  return Object.fromEntries(await Promise.all(fields));
}
