// What the tests of clients, keys and bans share: what is stored of them, and the trail that changes leave.
import { expect } from "bun:test";
import { eventually } from "../cli/command.ts";
import { type Person, pagesOf, type Reply, type TestStore } from "../harness.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;
export const MINUTE_MS = 60 * 1000;

export interface Entry {
  readonly id: number;
  readonly at: string;
  readonly operation: string;
  readonly by: string;
  readonly subject: string;
  readonly input: string;
}

/** The whole audit trail, newest first. */
export async function trail({ admin }: TestStore): Promise<Entry[]> {
  return (await pagesOf(admin, "/admin/audit?limit=100")).flat();
}

/** All that says who may do what, and what was done; what is written behind can come at any time and is left out. */
function access({ beside }: TestStore): Promise<unknown> {
  const behind = "'quota.warning', 'key.strike_warning', 'key.banned'";
  const tables = [
    "select * from clients order by id",
    "select id, client_id, role, name, hash, expires_at, revoked_at from api_keys order by id",
    "select * from bans where cause = 'admin' order by id",
    "select * from audit order by id",
    "select * from orders order by id",
    "select * from kept_answers order by client_id, key",
    `select * from events where type not in (${behind}) order by id`,
  ];
  return Promise.all(tables.map((query) => beside.db.rows(query)));
}

/** Sends what is to be refused, and proves that no client, key, ban, event or audit entry came of it. */
export async function denied(store: TestStore, send: () => Promise<Reply>): Promise<Reply> {
  const before = await access(store);
  const reply = await send();
  expect({ text: reply.text, isRefusal: reply.status >= 400 }).toMatchObject({ isRefusal: true });
  expect(await access(store)).toEqual(before);
  return reply;
}

/** A key as its holder uses it: for the same server, with the same checks of each reply. */
export function holder(store: TestStore, { key, id, clientId }: Reply["body"]): Person {
  const headers = { "x-api-key": key };
  const { nobody } = store;
  return {
    key,
    keyId: id,
    clientId,
    send: (method, path, sent = {}) =>
      nobody.send(method, path, { ...sent, headers: { ...headers, ...sent.headers } }),
    get: (path, more) => nobody.get(path, { ...headers, ...more }),
    post: (path, body, more) => nobody.post(path, body, { ...headers, ...more }),
    put: (path, body, more) => nobody.put(path, body, { ...headers, ...more }),
    patch: (path, body, more) => nobody.patch(path, body, { ...headers, ...more }),
    delete: (path, more) => nobody.delete(path, { ...headers, ...more }),
  };
}

/** A client that an admin made. */
export async function aClient(
  { admin }: TestStore,
  fields: Record<string, unknown> = {},
): Promise<Reply["body"]> {
  const { status, body, text } = await admin.post("/admin/clients", { name: "Shop", ...fields });
  if (status !== 201) throw new Error(text);
  return body;
}

/** A key that an admin made, with whoever holds it. */
export async function aKey(
  store: TestStore,
  clientId: number,
  fields: Record<string, unknown> = {},
): Promise<{ made: Reply["body"]; person: Person }> {
  const { status, body, text } = await store.admin.post(`/admin/clients/${clientId}/keys`, fields);
  if (status !== 201) throw new Error(text);
  return { made: body, person: holder(store, body) };
}

/** Spends the minute, waits until the grace is over, and asks so many times more. The minute is over afterwards. */
export async function strike({ clock }: TestStore, person: Person, times: number): Promise<void> {
  let status = 200;
  for (let asked = 0; status === 200 && asked < 50; asked++) status = (await person.get("/pets")).status;
  expect(status).toBe(429);
  clock.now += 2500;
  for (let done = 0; done < times; done++) expect((await person.get("/pets")).status).toBe(429);
  clock.now += MINUTE_MS;
}

/** Waits until a ban is written down. */
export async function bansInForce({ admin }: TestStore, count: number): Promise<Reply["body"]> {
  const isThere = async () => (await admin.get("/admin/bans?limit=100")).body.length === count;
  expect(await eventually(isThere, 2000)).toBe(true);
  return (await admin.get("/admin/bans?limit=100")).body;
}

export function iso(time: number): string {
  return new Date(time).toISOString();
}

/** What becomes of a request with this key: 200, or the code of its refusal. */
export async function codeOf(person: Person): Promise<200 | string> {
  const { status, body } = await person.get("/pets");
  return status === 200 ? 200 : body.code;
}
