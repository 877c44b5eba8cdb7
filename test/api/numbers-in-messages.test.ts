import { expect, test } from "bun:test";
import { follow } from "../following.ts";
import { aStore, refused } from "../harness.ts";

test("a message about one thing says one: streams", async () => {
  await using store = await aStore({ MAX_STREAMS: "1", MAX_STREAMS_PER_CLIENT: "1" });
  const { customer, staff } = store;
  await using _stream = await follow(store.url, customer);
  expect((await staff.get("/events/stream")).body.message).toBe(
    "This server has 1 stream, as many as it takes. Connect later.",
  );
  await using small = await aStore({ MAX_STREAMS_PER_CLIENT: "1" });
  await using _other = await follow(small.url, small.customer);
  expect((await small.customer.get("/events/stream")).body.message).toBe(
    "This client has 1 stream here, as many as it may have. End one first, or share one.",
  );
});

test("a message about one thing says one: requests", async () => {
  await using store = await aStore();
  for (const [quota, what] of [
    [{ perMinute: 1, perDay: 100 }, "this minute"],
    [{ perMinute: 1, perDay: 1 }, "today (UTC)"],
  ] as const) {
    const person = await store.newPerson("customer", { quota });
    expect((await person.get("/pets")).status).toBe(200);
    expect((await person.get("/pets")).body.message).toStartWith(`The 1 request of ${what} is spent. Wait `);
  }
});

test("a message about one thing says one: open orders, and pets of a batch", async () => {
  await using store = await aStore();
  const { id, categoryId } = await store.aPet(3);
  const removal = () => store.staff.delete(`/pets/${id}`);
  const how = `Find ids with GET /store/orders?petId=${id}&complete=false.`;
  await store.customer.post("/store/orders", { petId: id });
  expect((await refused(store, removal)).message).toBe(
    `Pet ${id} has 1 open order and cannot be removed. Complete or cancel it first. ${how}`,
  );
  await store.customer.post("/store/orders", { petId: id });
  expect((await refused(store, removal)).message).toBe(
    `Pet ${id} has 2 open orders and cannot be removed. Complete or cancel them first. ${how}`,
  );
  const wrong = { name: "Rex", categoryId: 999 };
  const right = { name: "Rex", categoryId };
  for (const [batch, says] of [
    [[wrong], "1 of 1 pet names a category that does not exist; none was created."],
    [[wrong, right], "1 of 2 pets names a category that does not exist; none was created."],
    [[wrong, right, wrong], "2 of 3 pets name a category that does not exist; none was created."],
  ] as const)
    expect((await refused(store, () => store.staff.post("/pets/batch", batch))).message).toBe(says);
});
