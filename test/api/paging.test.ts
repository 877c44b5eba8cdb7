import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aStore, nextOf, pagesOf, type TestStore } from "../harness.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(async () => {
  expect(await store.findings()).toEqual([]);
  await store.stop();
});

const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);

describe("paging through a list that changes", () => {
  test.each(["id", "-id", "name", "-name"])(
    "by %s neither repeats nor skips what was there",
    async (sort) => {
      const { body: category } = await store.staff.post("/categories", { name: "Dogs" });
      const add = async (name: string): Promise<number> =>
        (await store.staff.post("/pets", { name, categoryId: category.id })).body.id;
      const old: number[] = [];
      for (const name of ["Max", "Rex", "Rex", "Tom", "Ada", "Rex", "Bo"]) old.push(await add(name));
      const gone = [old.pop() as number];
      const seen: number[] = [];
      let next: string | undefined = `/pets?categoryId=${category.id}&sort=${sort}&limit=2`;
      while (next) {
        const page = await store.customer.get(next);
        seen.push(...idsOf(page.body));
        next = nextOf(page.headers);
        for (const name of ["Aa", "Rex", "Zz"]) await add(name);
        if (gone.length > 0) await store.staff.delete(`/pets/${gone.pop()}`);
        if (seen.length > 20) next = undefined;
      }
      expect(seen).toEqual([...new Set(seen)]);
      expect(seen.filter((id) => old.includes(id)).sort((a, b) => a - b)).toEqual(old);
    },
  );

  test("goes on after a record that was removed", async () => {
    const { body: category } = await store.staff.post("/categories", { name: "Dogs" });
    const pets = Array.from({ length: 5 }, () => ({ name: "Rex", categoryId: category.id }));
    const ids = idsOf((await store.staff.post("/pets/batch", pets)).body);
    const first = await store.customer.get(`/pets?categoryId=${category.id}&limit=2&sort=name`);
    await store.staff.delete(`/pets/${ids[1]}`);
    const second = await store.customer.get(nextOf(first.headers) as string);
    expect(idsOf(second.body)).toEqual(ids.slice(2, 4));
  });

  test("goes past the longest names, whatever they are compared as", async () => {
    const { body: category } = await store.staff.post("/categories", { name: "Dogs" });
    const long = ["🐕", "\u0001", "㌀", "ﷺ"].flatMap((letter) => [letter.repeat(200), letter.repeat(200)]);
    await store.staff.post(
      "/pets/batch",
      long.map((name) => ({ name, categoryId: category.id })),
    );
    const pages = await pagesOf(store.customer, `/pets?categoryId=${category.id}&sort=name&limit=1`);
    expect(pages).toHaveLength(long.length);
  });
});

describe("a list of orders", () => {
  let petIds: number[];
  const orders: number[] = [];
  beforeAll(async () => {
    petIds = [(await store.aPet(9)).id, (await store.aPet(9)).id];
    for (const [person, body] of [
      [store.customer, { petId: petIds[0], shipDate: "2026-11-03T00:00:00Z" }],
      [store.stranger, { petId: petIds[0], shipDate: "2026-11-01T00:00:00Z", complete: true }],
      [store.customer, { petId: petIds[1], complete: true, shipDate: "2026-11-01T00:00:00Z" }],
      [store.customer, {}],
      [store.customer, { petId: petIds[0], complete: true, shipDate: "2026-11-02T00:00:00Z" }],
      [store.stranger, { shipDate: "2026-11-04T00:00:00Z" }],
    ] as const)
      orders.push((await person.post("/store/orders", body)).body.id);
  });

  const numbersOf = async (person: "customer" | "stranger" | "staff", query: string) => {
    const found = (await pagesOf(store[person], `/store/orders?limit=2&${query}`)).flat();
    return found.map(({ id }) => orders.indexOf(id) + 1);
  };

  test("shows customers their own and staff all", async () => {
    expect(await numbersOf("customer", "")).toEqual([1, 3, 4, 5]);
    expect(await numbersOf("stranger", "")).toEqual([2, 6]);
    expect(await numbersOf("staff", "")).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await numbersOf("staff", "sort=-id")).toEqual([6, 5, 4, 3, 2, 1]);
    expect(await numbersOf("customer", "sort=-id")).toEqual([5, 4, 3, 1]);
  });

  test("is narrowed by pet and by completion", async () => {
    expect(await numbersOf("staff", `petId=${petIds[0]}`)).toEqual([1, 2, 5]);
    expect(await numbersOf("customer", `petId=${petIds[0]}`)).toEqual([1, 5]);
    expect(await numbersOf("customer", `petId=${petIds[0]}&complete=true`)).toEqual([5]);
    expect(await numbersOf("staff", "complete=true&sort=-id")).toEqual([5, 3, 2]);
    expect(await numbersOf("staff", "complete=false")).toEqual([1, 4, 6]);
    expect(await numbersOf("staff", "petId=999999")).toEqual([]);
  });

  test("comes by ship date when it is narrowed by ship date, from and until", async () => {
    expect(await numbersOf("staff", "shippedAfter=2026-11-02T00:00:00Z")).toEqual([5, 1, 6]);
    expect(await numbersOf("staff", "shippedBefore=2026-11-03T00:00:00Z")).toEqual([2, 3, 5]);
    expect(await numbersOf("staff", "shippedBefore=2026-11-03T00:00:00Z&sort=-shipDate")).toEqual([5, 3, 2]);
    expect(await numbersOf("customer", "shippedBefore=2026-11-03T00:00:00Z")).toEqual([3, 5]);
    const between = "shippedAfter=2026-11-01T00:00:00Z&shippedBefore=2026-11-03T01:00:00%2B01:00";
    expect(await numbersOf("staff", between)).toEqual([2, 3, 5]);
    expect(await numbersOf("staff", `${between}&complete=true&petId=${petIds[0]}`)).toEqual([2, 5]);
    expect(await numbersOf("staff", `shippedAfter=2026-11-03T00:00:00Z&complete=false`)).toEqual([1, 6]);
  });

  test.each([
    "complete=yes",
    "complete=1",
    "petId=x",
    "petId=0",
    "shippedAfter=today",
    "shippedBefore=2026-11-03",
    "sort=shipDate",
    "sort=id&shippedAfter=2026-11-02T00:00:00Z",
  ])("is not narrowed by %s", async (query) => {
    const { status, body } = await store.customer.get(`/store/orders?${query}`);
    expect([status, body.code]).toEqual([400, "invalid_parameter"]);
    expect(body.details[0].field).toBe(query.split("=")[0]);
  });

  test("shows each order as it is shown alone", async () => {
    const { body } = await store.staff.get("/store/orders");
    for (const order of body)
      expect((await store.staff.get(`/store/orders/${order.id}`)).body).toEqual(order);
  });
});
