import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { aStore, refused, type TestStore } from "../harness.ts";

let store: TestStore;
let categoryId: number;
beforeAll(async () => {
  store = await aStore();
  categoryId = (await store.staff.post("/categories", { name: "Dogs" })).body.id;
});
afterEach(async () => expect(await store.findings()).toEqual([]));
afterAll(() => store.stop());

const fieldsOf = (refusal: { details: { field: string }[] }) => refusal.details.map(({ field }) => field);

test("a batch creates its pets in the order given, each with its own stock", async () => {
  const { body, headers } = await store.staff.post("/pets/batch", [
    { name: "Rex", categoryId },
    { name: "Tom", categoryId, status: "sold" },
    { name: "Max", categoryId, status: "pending" },
  ]);
  const [rex, tom, max] = body;
  expect(body).toEqual([
    { id: rex.id, name: "Rex", categoryId, status: "available" },
    { id: rex.id + 1, name: "Tom", categoryId, status: "sold" },
    { id: rex.id + 2, name: "Max", categoryId, status: "pending" },
  ]);
  expect(headers.get("x-api-stability")).toBe("experimental");
  for (const [pet, quantity] of [
    [rex, 1],
    [tom, 0],
    [max, 1],
  ])
    expect((await store.customer.get(`/store/pets/${pet.id}`)).body).toMatchObject({ ...pet, quantity });
});

test("a batch takes a thousand pets and not one more", async () => {
  const pets = Array.from({ length: 1001 }, (_, index) => ({ name: `Pet ${index}`, categoryId }));
  const refusal = await refused(store, () => store.staff.post("/pets/batch", pets));
  expect([refusal.code, ...fieldsOf(refusal)]).toEqual(["invalid_body", "body"]);
  const { body } = await store.staff.post("/pets/batch", pets.slice(1));
  expect(body).toHaveLength(1000);
  expect(body.map(({ name }: { name: string }) => name)).toEqual(pets.slice(1).map(({ name }) => name));
});

test("an empty batch, or something else than a list, is refused", async () => {
  for (const body of [[], {}, { name: "Rex", categoryId }, null, "Rex"]) {
    const refusal = await refused(store, () => store.staff.post("/pets/batch", body));
    expect([refusal.code, ...fieldsOf(refusal)]).toEqual(["invalid_body", "body"]);
  }
});

test("one bad pet refuses the whole batch, and all bad ones are named", async () => {
  const refusal = await refused(store, () =>
    store.staff.post("/pets/batch", [
      { name: "Rex", categoryId },
      { name: " ", categoryId },
      { categoryId, colour: "red" },
      null,
    ]),
  );
  expect(refusal.code).toBe("invalid_body");
  expect(fieldsOf(refusal)).toEqual(["[1].name", "[2].name", "[2].colour", "[3]"]);
});

test("one unknown category refuses the whole batch, and all unknown ones are named", async () => {
  const refusal = await refused(store, () =>
    store.staff.post("/pets/batch", [
      { name: "Rex", categoryId },
      { name: "Tom", categoryId: 998 },
      { name: "Max", categoryId },
      { name: "Ada", categoryId: 999 },
      { name: "Eve", categoryId: 998 },
    ]),
  );
  expect(refusal).toMatchObject({ code: "unknown_category", status: 422 });
  expect(fieldsOf(refusal)).toEqual(["[1].categoryId", "[3].categoryId", "[4].categoryId"]);
});
