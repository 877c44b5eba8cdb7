import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";

const ORDERS = 2000;
const UNITS = 500;
/** Bun's fetch opens at most 256 connections. */
const AT_ONCE = 240;

test("2,000 orders for 500 units at once sell exactly 500", async () => {
  await using store = await aStore();
  const pet = await store.aPet(UNITS);
  const outcomes = new Map<string, number>();
  let left = ORDERS;
  let inFlight = 0;
  let mostInFlight = 0;
  const buyer = async () => {
    while (left > 0) {
      left -= 1;
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      const { status, body } = await store.customer.post("/store/orders", { petId: pet.id });
      inFlight -= 1;
      const outcome = status === 201 ? "201" : `${status} ${body.code}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, buyer));

  expect(mostInFlight).toBeGreaterThanOrEqual(200);
  const refused = (code: string) => outcomes.get(`409 ${code}`) ?? 0;
  expect(outcomes.get("201")).toBe(UNITS);
  expect(refused("insufficient_stock") + refused("pet_not_available")).toBe(ORDERS - UNITS);

  const { body } = await store.customer.get(`/store/pets/${pet.id}`);
  expect(body).toMatchObject({ quantity: 0, status: "pending" });
  expect(await store.beside.db.value(`select sum(change) from movements where pet_id = ${pet.id}`)).toBe(0);
  expect(await store.beside.db.value("select count(*) from orders")).toBe(UNITS);
  expect(await store.findings()).toEqual([]);
});

test("orders of several units share the stock without ever passing it", async () => {
  await using store = await aStore();
  const pet = await store.aPet(UNITS);
  const replies = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) =>
      store.customer.post("/store/orders", { petId: pet.id, quantity: 1 + (index % 7) }),
    ),
  );
  const sold = replies
    .filter(({ status }) => status === 201)
    .reduce((units, { body }) => units + body.quantity, 0);
  expect(sold).toBeLessThanOrEqual(UNITS);
  expect(replies.every(({ status }) => status === 201 || status === 409)).toBe(true);
  const { body } = await store.customer.get(`/store/inventory/${pet.id}`);
  expect(body.quantity).toBe(UNITS - sold);
  expect(await store.findings()).toEqual([]);
});
