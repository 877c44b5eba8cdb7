import { expect, test } from "bun:test";
import { type Instances, instances } from "./instances.ts";

const UNITS = 500;
const BUYERS = 2000;
/** Requests under way at once; the runtime's fetch has no more connections than that to give. */
const AT_ONCE = 120;

async function aPet({ send }: Instances, quantity: number): Promise<number> {
  const category = (await (await send("POST", "/categories", { name: "Dogs" })).json()) as { id: number };
  const made = await send("POST", "/pets", { name: "Rex", categoryId: category.id });
  const { id } = (await made.json()) as { id: number };
  expect((await send("PUT", `/store/inventory/${id}`, { quantity })).status).toBe(200);
  return id;
}

/** Does it so often, so many at once; how often each status came. */
async function statuses(times: number, ask: (time: number) => Promise<Response>, atOnce = AT_ONCE) {
  const counts: Record<number, number> = {};
  let next = 0;
  const lane = async () => {
    while (next < times) {
      const response = await ask(next++);
      await response.arrayBuffer();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return counts;
}

test("three instances sell five hundred units to two thousand buyers exactly once each", async () => {
  await using shop = await instances(3);
  const petId = await aPet(shop, UNITS);
  const counts = await statuses(BUYERS, () => shop.send("POST", "/store/orders", { petId }));
  expect(counts).toEqual({ 201: UNITS, 409: BUYERS - UNITS });
  const [row] = await shop.server.query(
    `select (select count(*) from orders)::int as orders, quantity::int, open_orders::int as open, status,
      (select sum(change) from movements)::int as ledger, (select count(*) from events where type = 'order.placed')::int as events
     from pets where id = ${petId}`,
    shop.database,
  );
  expect(row).toEqual({
    orders: UNITS,
    quantity: 0,
    open: UNITS,
    status: "pending",
    ledger: 0,
    events: UNITS,
  });
  expect((await shop.beside.diagnose()).findings).toEqual([]);
}, 60_000);

test("a hundred requests with one idempotency key over three instances place one order, and all are answered with it", async () => {
  await using shop = await instances(3);
  const petId = await aPet(shop, UNITS);
  const headers = { "idempotency-key": "the-one" };
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => shop.send("POST", "/store/orders", { petId }, headers)),
  );
  const answers = await Promise.all(replies.map(async (reply) => `${reply.status} ${await reply.text()}`));
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toStartWith("201 ");
  expect(replies.filter((reply) => !reply.headers.get("idempotency-replayed"))).toHaveLength(1);
  const [row] = await shop.server.query(
    "select (select count(*) from orders)::int as orders, (select quantity from pets)::int as quantity",
    shop.database,
  );
  expect(row).toEqual({ orders: 1, quantity: UNITS - 1 });
  expect((await shop.beside.diagnose()).findings).toEqual([]);
}, 30_000);

test("orders that are placed, changed and cancelled on three instances at once leave a store that adds up", async () => {
  await using shop = await instances(3);
  const pets = [await aPet(shop, 60), await aPet(shop, 60), await aPet(shop, 60)];
  const allowed = new Set([200, 201, 204, 404, 409]);
  const one = async (time: number): Promise<Response> => {
    const petId = pets[time % 3];
    const placed = await shop.send("POST", "/store/orders", { petId, quantity: 1 + (time % 3) });
    if (placed.status !== 201) return placed;
    const { id } = (await placed.json()) as { id: number };
    const other = pets[(time + 1) % 3];
    const [moved, removed] = await Promise.all([
      shop.send("PATCH", `/store/orders/${id}`, { petId: other }),
      time % 2 === 0 ? shop.send("DELETE", `/store/orders/${id}`) : shop.send("GET", `/store/orders/${id}`),
    ]);
    await moved.arrayBuffer();
    return removed;
  };
  const counts = await statuses(400, one, 30);
  expect(Object.keys(counts).filter((status) => !allowed.has(Number(status)))).toEqual([]);
  expect((await shop.beside.diagnose()).findings).toEqual([]);
}, 60_000);

test("what one instance counts is added to what another has counted, and one of them sweeps", async () => {
  await using shop = await instances(3);
  for (let time = 0; time < 30; time++) expect((await shop.send("GET", "/pets")).status).toBe(200);
  const counted = async () =>
    (await shop.beside.reads.usage({ fromDay: 0, toDay: 100_000 }))
      .filter(({ operation }) => operation === "pets.list")
      .reduce((sum, { requests }) => sum + requests, 0);
  for (const until = Date.now() + 5000; (await counted()) < 30 && Date.now() < until; ) await Bun.sleep(50);
  expect(await counted()).toBe(30);
  const taken = await Promise.all(
    [1, 2, 3].map(() => shop.beside.transact(async (store) => store.takeDuty("sweep", 1000, 2000))),
  );
  expect(taken.filter((isTaken) => isTaken)).toHaveLength(1);
  expect(await shop.beside.transact(async (store) => store.takeDuty("sweep", 1999, 3000))).toBe(false);
  expect(await shop.beside.transact(async (store) => store.takeDuty("sweep", 2000, 3000))).toBe(true);
}, 30_000);
