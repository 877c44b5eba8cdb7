// Several instances on one PostgreSQL share the deliveries.
import { expect, test } from "bun:test";
import { eventually } from "../cli/command.ts";
import { aReceiver, PRIVATE } from "../webhooks/receiver.ts";
import { instances } from "./instances.ts";

const ORDERS = 200;

test("three instances send each event to each webhook once, whoever wrote it, and none is missed", async () => {
  await using shop = await instances(3, PRIVATE);
  await using one = aReceiver();
  await using other = aReceiver(async () => {
    await Bun.sleep(5);
    return new Response();
  });
  const post = async (path: string, body: unknown) =>
    (await (await shop.send("POST", path, body)).json()) as { id: number };
  for (const { url } of [one, other]) await post("/webhooks", { url, types: ["order.placed"] });
  const { id: categoryId } = await post("/categories", { name: "Dogs" });
  const { id: petId } = await post("/pets", { name: "Rex", categoryId });
  await shop.send("PUT", `/store/inventory/${petId}`, { quantity: 1_000_000 });

  const placed = new Set<number>();
  const buyer = async () => {
    while (placed.size < ORDERS) placed.add((await post("/store/orders", { petId })).id);
  };
  await Promise.all(Array.from({ length: 12 }, buyer));
  for (const receiver of [one, other]) {
    await receiver.nth(placed.size);
    const orders = receiver.received.map(({ event }) => event.data.id);
    expect(new Set(orders)).toEqual(placed);
    expect(orders).toHaveLength(placed.size);
  }
  const states = async () =>
    shop.server.query(
      "select state, attempts::int as attempts, count(*)::int as n from webhook_deliveries group by 1, 2",
      shop.database,
    );
  const isDone = async () => (await states()).every(({ state }) => state === "delivered");
  expect(await eventually(isDone, 5000)).toBe(true);
  expect(await states()).toEqual([{ state: "delivered", attempts: 1, n: 2 * placed.size }]);
  for (const receiver of [one, other]) expect(receiver.received).toHaveLength(placed.size);
});
