// Many who want the same at once, over three instances and one database: everybody is told the truth, and nothing is sold twice.
import { type Outcome, unless } from "./judge.ts";
import type { Length, Scenario } from "./scenarios.ts";
import { asked, type World } from "./world.ts";

const UNITS = 500;
const BUYERS = 2000;
/** Requests under way at once; the runtime's fetch has no more connections than that to give. */
const AT_ONCE = 120;
const WITH_ONE_KEY = 100;

export const sales: readonly Scenario[] = [
  {
    name: "two thousand buyers of five hundred units, and a hundred requests with one idempotency key",
    shortMs: 1,
    longMs: 30_000,
    run: sold,
  },
];

async function sold(world: World, { ms }: Length): Promise<Outcome> {
  const problems: string[] = [];
  let times = 0;
  for (const until = performance.now() + ms; performance.now() < until; times++)
    problems.push(...(await soldOut(world)), ...(await placedOnce(world)));
  const { findings } = await world.command("doctor");
  problems.push(...unless(findings.length === 0, `the doctor found ${JSON.stringify(findings)}`));
  return { figures: { times }, problems };
}

async function soldOut(world: World): Promise<string[]> {
  const petId = await aPet(world);
  const statuses: number[] = [];
  let next = 0;
  const lane = async () => {
    for (let n = next++; n < BUYERS; n = next++) statuses.push((await order(world, n, petId)).status);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const placed = statuses.filter((status) => status === 201).length;
  const refused = statuses.filter((status) => status === 409).length;
  const [row] = await world.rows(
    `select quantity::int, open_orders::int as open, status, (select count(*) from orders where pet_id = ${petId})::int as orders,
      (select sum(change) from movements where pet_id = ${petId})::int as ledger from pets where id = ${petId}`,
  );
  const expected = { quantity: 0, open: UNITS, status: "pending", orders: UNITS, ledger: 0 };
  return [
    ...unless(placed === UNITS && refused === BUYERS - UNITS, `${placed} were placed and ${refused} refused`),
    ...unless(Bun.deepEquals(row, expected), `after the sale: ${JSON.stringify(row)}`),
  ];
}

async function placedOnce(world: World): Promise<string[]> {
  const petId = await aPet(world);
  const key = crypto.randomUUID();
  const all = await Promise.all(Array.from({ length: WITH_ONE_KEY }, (_, n) => order(world, n, petId, key)));
  const [row] = await world.rows(
    `select quantity::int, (select count(*) from orders where pet_id = ${petId})::int as orders from pets where id = ${petId}`,
  );
  return [
    ...unless(
      all.every(({ status, text }) => status === 201 && text === all[0]?.text),
      `one key was answered ${[...new Set(all.map(({ status, text }) => `${status} ${text}`))].join(" and ")}`,
    ),
    ...unless(all.filter(({ isReplay }) => !isReplay).length === 1, "not just one of them was the first"),
    ...unless(
      Bun.deepEquals(row, { quantity: UNITS - 1, orders: 1 }),
      `after one key: ${JSON.stringify(row)}`,
    ),
  ];
}

async function order({ urls, staff }: World, turn: number, petId: number, key?: string) {
  const response = await fetch(`${urls[turn % urls.length]}/store/orders`, {
    method: "POST",
    body: JSON.stringify({ petId }),
    headers: {
      "x-api-key": staff,
      "content-type": "application/json",
      ...(key !== undefined && { "idempotency-key": key }),
    },
  });
  const text = await response.text();
  return { status: response.status, text, isReplay: response.headers.has("idempotency-replayed") };
}

async function aPet({ urls, staff }: World): Promise<number> {
  const category = await asked(`${urls[0]}/categories`, staff, "POST", { name: "Dogs" });
  const { id: categoryId } = (await category.json()) as { id: number };
  const pet = await asked(`${urls[0]}/pets`, staff, "POST", { name: "Rex", categoryId });
  const { id } = (await pet.json()) as { id: number };
  await (await asked(`${urls[0]}/store/inventory/${id}`, staff, "PUT", { quantity: UNITS })).arrayBuffer();
  return id;
}
