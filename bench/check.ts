// Before anything is timed: every server gives the right answers, and keeps what it answered.

import { Database } from "bun:sqlite";
import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from "node:assert";
import { join } from "node:path";
import { SQL } from "bun";
import { isPostgres } from "../src/store/open.ts";
import { type Ask, asking, type Reply } from "./ask.ts";
import type { Contender } from "./contenders.ts";
import { CATEGORIES, type Filled, UNITS } from "./fill.ts";
import { pageAfter, unknownKeys } from "./known.ts";
import type { Server } from "./servers.ts";

/** Everything that the scenarios ask for, asked once, and what must be refused. */
export async function check(
  { name, isOurs, isDutiful }: Contender,
  { url }: Server,
  store: Filled,
): Promise<void> {
  const ask = asking(url, store.key, isOurs);
  try {
    await checkPet(ask);
    await checkPages(ask);
    await checkOrders(ask, store.path);
    await checkRefusals(ask, store);
    if (isOurs || isDutiful) await checkDuties(ask, store);
  } catch (error) {
    throw new Error(`${name} gives a wrong answer: ${(error as Error).message}`, { cause: error });
  }
}

async function checkPet(ask: Ask): Promise<void> {
  for (const id of [1, 10, 249_999]) {
    const { status, body, headers } = await ask(`/store/pets/${id}`);
    strictEqual(status, 200);
    const categoryId = 1 + (id % CATEGORIES);
    const category = {
      id: categoryId,
      name: `Category ${categoryId}`,
      description: `Animals of kind ${categoryId}`,
    };
    const stock = id % 10 === 0 ? { status: "sold", quantity: 0 } : { status: "available", quantity: UNITS };
    deepStrictEqual(body, { id, name: `Pet ${id}`, categoryId, category, ...stock });
    for (const header of ["limit", "remaining", "reset"]) ok(headers.get(`x-ratelimit-${header}`), header);
  }
  strictEqual((await ask("/store/pets/999999999")).status, 404);
  ok([400, 422].includes((await ask("/store/pets/rex")).status));
}

async function checkPages(ask: Ask): Promise<void> {
  const ids = ({ body }: Reply) => body.map(({ id }: { id: number }) => id);
  const from = (first: number) => Array.from({ length: 20 }, (_, n) => first + n);
  const first = await ask("/pets");
  deepStrictEqual(ids(first), from(1));
  deepStrictEqual(first.body[0], { id: 1, name: "Pet 1", categoryId: 2, status: "available" });
  deepStrictEqual(ids(await ask(nextOf(first))), from(21));
  deepStrictEqual(ids(await ask(pageAfter(199_980))), from(199_981));

  const named = await ask("/pets?status=available&name=pet%2012");
  const all = [...named.body, ...(await ask(nextOf(named))).body] as { name: string; status: string }[];
  strictEqual(all.length, 40);
  ok(all.every(({ name, status }) => name.startsWith("Pet 12") && status === "available"));
  deepStrictEqual(
    all.map(({ name }) => name),
    all.map(({ name }) => name).toSorted(),
  );
}

function nextOf({ headers }: Reply): string {
  const next = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  ok(next, "no next page in Link");
  return next;
}

async function checkOrders(ask: Ask, path: string): Promise<void> {
  const before = await stored(path, 7);
  const order = { petId: 7, quantity: 3 };
  const made = await ask("/store/orders", { post: order, idempotencyKey: "check" });
  strictEqual(made.status, 201);
  deepStrictEqual(made.body, { ...order, id: made.body.id, complete: false });
  strictEqual(made.headers.get("location"), `/store/orders/${made.body.id}`);
  const after = await stored(path, 7);
  strictEqual(after.quantity, before.quantity - 3);
  for (const table of ["orders", "movements", "ledger", "kept_answers"] as const)
    strictEqual(after[table], before[table] + 1);
  ok(after.events > before.events, "no event was stored");

  const again = await ask("/store/orders", { post: order, idempotencyKey: "check" });
  deepStrictEqual([again.status, again.body], [201, made.body]);
  for (const refused of [
    { post: { petId: 7, quantity: 4 }, idempotencyKey: "check" },
    { post: { petId: 7, quantity: UNITS + 1 } },
    { post: { petId: 10, quantity: 1 } },
    { post: { petId: 999_999_999, quantity: 1 } },
    { post: { petId: "rex", quantity: 1 } },
    { post: { petId: 7, quantity: 0 } },
    { post: { petId: 7, colour: "brown" } },
  ]) {
    const { status } = await ask("/store/orders", refused);
    ok(status >= 400 && status < 500, `${JSON.stringify(refused)} was answered ${status}`);
  }
  deepStrictEqual(await stored(path, 7), after);

  strictEqual((await ask("/store/orders", { post: { petId: 17, quantity: UNITS } })).status, 201);
  const { status, quantity } = (await ask("/store/pets/17")).body;
  deepStrictEqual([status, quantity], ["pending", 0]);
}

async function checkRefusals(ask: Ask, { spentKey }: Filled): Promise<void> {
  for (const key of ["", "ps_live_mistyped", ...unknownKeys(3)]) {
    const { status, body } = await ask("/store/pets/1", { key });
    deepStrictEqual([status, body.status], [401, 401]);
    strictEqual((await ask("/store/orders", { key, post: { petId: 7 } })).status, 401);
  }
  strictEqual((await ask("/store/pets/1", { key: spentKey })).status, 200);
  const { status, headers } = await ask("/store/pets/1", { key: spentKey });
  strictEqual(status, 429);
  ok(Number(headers.get("retry-after")) > 0, "no Retry-After");
}

/** What ours does besides, and whoever is said to have the same duties: with an answer and with a refusal. */
async function checkDuties(ask: Ask, { spentKey }: Filled): Promise<void> {
  const pet = "/store/pets/27";
  const found = await ask(pet);
  const made = await ask("/store/orders", { post: { petId: 27, quantity: 1 } });
  const [unknownKey] = unknownKeys(1) as [string];
  const unknown = await ask(pet, { key: unknownKey });
  const spent = await ask(pet, { key: spentKey });
  for (const { status, headers } of [found, made, unknown, spent, await ask("/pets")]) {
    const at = `of a ${status}`;
    strictEqual(headers.get("api-version"), "1.0.0", `Api-Version ${at}`);
    strictEqual(headers.get("cache-control"), "private, no-cache", `Cache-Control ${at}`);
    strictEqual(headers.get("x-content-type-options"), "nosniff", `X-Content-Type-Options ${at}`);
    match(headers.get("ratelimit-policy") ?? "", /^"minute";q=\d+;w=60, "day";q=\d+;w=86400$/, at);
    match(headers.get("ratelimit") ?? "", /^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/, at);
    ok(headers.get("x-ratelimit-remaining"), `X-RateLimit-Remaining ${at}`);
  }
  deepStrictEqual([unknown.status, spent.status], [401, 429]);
  ok(unknown.headers.get("www-authenticate"), "no WWW-Authenticate");
  // Nobody's key is counted by where it came from.
  const left = ({ headers }: Reply) => Number(headers.get("x-ratelimit-remaining"));
  strictEqual(left(await ask(pet, { key: unknownKey })), left(unknown) - 1);

  const named = await ask(pet, { headers: { "x-request-id": "check-1" } });
  strictEqual(named.headers.get("x-request-id"), "check-1");
  notStrictEqual(found.headers.get("x-request-id"), made.headers.get("x-request-id"));
  strictEqual(made.headers.get("etag"), '"o1"');
  const tag = named.headers.get("etag") ?? "";
  notStrictEqual(tag, found.headers.get("etag"), "an order changes the ETag");
  const again = await ask(pet, { headers: { "if-none-match": tag } });
  deepStrictEqual([again.status, again.text, again.headers.get("etag")], [304, "", tag]);
}

/** What is in the database, seen from beside the server. */
async function stored(path: string, petId: number) {
  const rows = isPostgres(path) ? postgresRows : sqliteRows;
  const [row] = await rows(
    path,
    `with recursive ledger as (
        select m.id, m.previous_id from movements m join pets p on m.id = p.last_movement_id where p.id = ${petId}
        union all select m.id, m.previous_id from movements m join ledger l on m.id = l.previous_id)
      select (select quantity from pets where id = ${petId}) as quantity, (select count(*) from orders) as orders,
      (select count(*) from movements) as movements, (select count(*) from kept_answers) as kept_answers,
      (select count(*) from events) as events, (select count(*) from ledger) as ledger`,
  );
  const { quantity, orders, movements, ledger, kept_answers, events } = row as Record<
    string,
    number | string
  >;
  return {
    quantity: Number(quantity),
    orders: Number(orders),
    movements: Number(movements),
    ledger: Number(ledger),
    kept_answers: Number(kept_answers),
    events: Number(events),
  };
}

async function sqliteRows(path: string, text: string): Promise<unknown[]> {
  const db = new Database(path, { readonly: true });
  try {
    return db.query(text).all();
  } finally {
    db.close();
  }
}

async function postgresRows(url: string, text: string): Promise<unknown[]> {
  const sql = new SQL(url, { max: 1 });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.close();
  }
}

/** After the load: our doctor, which knows every rule of the tables, finds nothing wrong in anybody's. */
export async function checkStore({ name }: Contender, { path }: Filled): Promise<void> {
  const doctor = Bun.spawn([join(import.meta.dir, "../petstore"), "doctor", "--database-url", path], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const findings = await new Response(doctor.stdout).text();
  if ((await doctor.exited) !== 0) throw new Error(`${name} left its store in disorder:\n${findings}`);
}
