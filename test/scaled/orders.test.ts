import { expect, test } from "bun:test";
import { type Instances, instances } from "./instances.ts";

/** The client whose key sends all requests. */
const OPERATOR = 1;
const TIMES = 400;
const AT_ONCE = 30;
/** How many may be told to come back, on a machine so busy that they waited for three pets in vain. */
const TOLD_TO_COME_BACK = TIMES / 20;

async function aPet({ send }: Instances, quantity: number): Promise<number> {
  const category = (await (await send("POST", "/categories", { name: "Dogs" })).json()) as { id: number };
  const made = await send("POST", "/pets", { name: "Rex", categoryId: category.id });
  const { id } = (await made.json()) as { id: number };
  expect((await send("PUT", `/store/inventory/${id}`, { quantity })).status).toBe(200);
  return id;
}

/** Does it often, many at once; how often each status came. */
async function statuses(ask: (time: number) => Promise<Response>) {
  const counts: Record<number, number> = {};
  let next = 0;
  const lane = async () => {
    while (next < TIMES) {
      const response = await ask(next++);
      await response.arrayBuffer();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return counts;
}

test("orders that are placed, changed and cancelled on three instances at once leave a store that adds up", async () => {
  await using shop = await instances(3);
  const pets = [await aPet(shop, 60), await aPet(shop, 60), await aPet(shop, 60)];
  const allowed = new Set([200, 201, 204, 404, 409, 503]);
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
  const counts = await statuses(one);
  expect(Object.keys(counts).filter((status) => !allowed.has(Number(status)))).toEqual([]);
  expect(counts[503] ?? 0).toBeLessThan(TOLD_TO_COME_BACK);
  expect((await shop.beside.diagnose()).findings).toEqual([]);
}, 60_000);

test("what one instance counts is added to what another has counted, and one of them sweeps", async () => {
  await using shop = await instances(3);
  for (let time = 0; time < 30; time++) expect((await shop.send("GET", "/pets")).status).toBe(200);
  const counted = async () =>
    (await shop.beside.reads.usage({ clientId: OPERATOR, fromDay: 0, toDay: 100_000 }))
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
});
