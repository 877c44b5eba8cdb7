import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { aStore, refused, type TestStore } from "../harness.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterEach(async () => expect(await store.findings()).toEqual([]));
afterAll(() => store.stop());

const aCategory = async (fields = {}) =>
  (await store.staff.post("/categories", { name: "Dogs", ...fields })).body;

test("a new category is found at its Location, with a description or without", async () => {
  const described = await store.staff.post("/categories", { name: "Dogs", description: "Loyal" });
  expect(described.status).toBe(201);
  expect(described.body).toEqual({ id: described.body.id, name: "Dogs", description: "Loyal" });
  const location = described.headers.get("location") as string;
  expect(location).toBe(`/categories/${described.body.id}`);
  expect((await store.customer.get(location)).body).toEqual(described.body);
  const { body } = await store.staff.post("/categories", { name: "Cats" });
  expect(body).toEqual({ id: body.id, name: "Cats" });
});

test("two categories may have the same name", async () => {
  const [one, other] = [await aCategory(), await aCategory()];
  expect(one.name).toBe(other.name);
  expect(one.id).not.toBe(other.id);
});

test.each([
  [{}, ["name"]],
  [{ name: null, description: null }, ["name", "description"]],
  [{ name: "Dogs", description: 7 }, ["description"]],
  [{ name: "Dogs", description: "x".repeat(2001) }, ["description"]],
  [{ name: "Dogs", description: "a\0b" }, ["description"]],
  [{ name: "Dogs", description: "\ud800" }, ["description"]],
  [{ name: "Dogs", id: 1, kind: "x" }, ["id", "kind"]],
])("a category %j is refused with every problem at once", async (body, fields) => {
  const refusal = await refused(store, () => store.staff.post("/categories", body));
  expect(refusal.code).toBe("invalid_body");
  expect(refusal.details.map(({ field }: { field: string }) => field)).toEqual(fields);
});

test("a description has up to 2,000 characters, emoji counted as one, and may be empty", async () => {
  for (const description of ["", " ", "x".repeat(2000), "🐕".repeat(2000)])
    expect(await aCategory({ description })).toMatchObject({ description });
});

describe("a change of a category", () => {
  test("by PUT replaces all of it: without a description it has none", async () => {
    const { id } = await aCategory({ description: "Loyal" });
    const { status, body } = await store.staff.put(`/categories/${id}`, { name: "Hounds" });
    expect([status, body]).toEqual([200, { id, name: "Hounds" }]);
    expect((await store.customer.get(`/categories/${id}`)).body).toEqual(body);
    const refusal = await refused(store, () => store.staff.put(`/categories/${id}`, { description: "x" }));
    expect(refusal.details).toEqual([{ field: "name", message: "is required" }]);
  });

  test("by PATCH merges, and null clears the description alone", async () => {
    const { id } = await aCategory({ description: "Loyal" });
    const patch = async (body: unknown) => (await store.staff.patch(`/categories/${id}`, body)).body;
    expect(await patch({ name: "Hounds" })).toEqual({ id, name: "Hounds", description: "Loyal" });
    expect(await patch({ description: null })).toEqual({ id, name: "Hounds" });
    const refusal = await refused(store, () => store.staff.patch(`/categories/${id}`, { name: null }));
    expect([refusal.code, refusal.details[0].field]).toEqual(["invalid_body", "name"]);
  });

  test("to what it is changes nothing and tells nobody", async () => {
    const category = await aCategory({ description: "Loyal" });
    const before = await store.snapshot();
    const path = `/categories/${category.id}`;
    for (const reply of [
      await store.staff.patch(path, {}),
      await store.staff.patch(path, category),
      await store.staff.put(path, category),
    ])
      expect([reply.status, reply.body]).toEqual([200, category]);
    expect(await store.snapshot()).toBe(before);
  });

  test("may repeat the id of the path and name no other", async () => {
    const { id } = await aCategory();
    expect((await store.staff.put(`/categories/${id}`, { id, name: "Cats" })).status).toBe(200);
    expect((await store.staff.patch(`/categories/${id}`, { id, name: "Dogs" })).status).toBe(200);
    for (const change of [
      () => store.staff.put(`/categories/${id}`, { id: id + 1, name: "Cats" }),
      () => store.staff.patch(`/categories/${id}`, { id: id + 1 }),
    ]) {
      const { code, details } = await refused(store, change);
      expect([code, details[0].field]).toEqual(["invalid_body", "id"]);
    }
  });
});

test("a category is removed once no pet belongs to it, and its id is not used again", async () => {
  const { id: petId, categoryId } = await store.aPet();
  const path = `/categories/${categoryId}`;
  const refusal = await refused(store, () => store.staff.delete(path));
  expect(refusal).toMatchObject({ code: "category_in_use", status: 409 });
  expect(refusal.message).toContain(`/pets?categoryId=${categoryId}`);
  await store.staff.delete(`/pets/${petId}`);
  const reply = await store.staff.delete(path);
  expect([reply.status, reply.text]).toEqual([204, ""]);
  for (const gone of [
    () => store.customer.get(path),
    () => store.staff.delete(path),
    () => store.staff.patch(path, { name: "Cats" }),
    () => store.staff.put(path, { name: "Cats" }),
  ])
    expect((await refused(store, gone)).code).toBe("category_not_found");
  expect((await aCategory()).id).toBeGreaterThan(categoryId);
});

test("a category whose pets moved away can be removed", async () => {
  const { id: petId, categoryId } = await store.aPet();
  const { id } = await aCategory();
  await store.staff.patch(`/pets/${petId}`, { categoryId: id });
  expect((await store.staff.delete(`/categories/${categoryId}`)).status).toBe(204);
});

test("customers read categories and do not change them", async () => {
  const category = await aCategory();
  const { customer } = store;
  for (const write of [
    () => customer.post("/categories", { name: "Cats" }),
    () => customer.put(`/categories/${category.id}`, { name: "Cats" }),
    () => customer.patch(`/categories/${category.id}`, { name: "Cats" }),
    () => customer.delete(`/categories/${category.id}`),
  ])
    expect((await refused(store, write)).code).toBe("forbidden");
  expect((await customer.get(`/categories/${category.id}`)).body).toEqual(category);
});

describe("a name, of a category as of a pet", () => {
  const made = async (name: string) => {
    const category = await store.staff.post("/categories", { name });
    const pet = await store.staff.post("/pets", { name, categoryId: 1 });
    return [category, pet];
  };

  test.each([
    "x",
    "x".repeat(200),
    "🐕".repeat(200),
    " Rex ",
    "é",
    "\u200d",
    "1",
    "<b>",
    "a\tb\nc",
    "\ufffd",
  ])("may be %j, and comes back as it was given", async (name) => {
    for (const { status, body } of await made(name)) expect([status, body.name]).toEqual([201, name]);
  });

  test.each([
    "",
    " ",
    "\t\r\n",
    "\u00a0\u2003\u3000",
    "x".repeat(201),
    "🐕".repeat(201),
    "a\0b",
    "\ud83d",
    "a\udc15",
  ])("may not be %j", async (name) => {
    const before = await store.snapshot();
    for (const { status, body } of await made(name)) {
      expect([status, body.code]).toEqual([422, "invalid_body"]);
      expect(body.details.map(({ field }: { field: string }) => field)).toEqual(["name"]);
    }
    expect(await store.snapshot()).toBe(before);
  });
});
