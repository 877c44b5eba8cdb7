import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aStore, nextOf, pagesOf, type TestStore } from "../harness.ts";

interface Shown {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
}

const names = [
  "Rex",
  "rosa",
  "REX",
  "Émile",
  "émilie",
  "Zoë",
  "ЖУК",
  "жучка",
  "🐕 Bo",
  "ab",
  "Ab",
  "Ζεύς",
  "rexina",
];
const statuses = ["available", "pending", "sold"];

let store: TestStore;
let pets: Shown[];
beforeAll(async () => {
  store = await aStore();
  for (const name of ["Dogs", "Cats", "dogfish", "Dodos"]) await store.staff.post("/categories", { name });
  const batch = Array.from({ length: 26 }, (_, index) => ({
    name: names[index % names.length],
    categoryId: 1 + (index % 3),
    status: statuses[index % 4] ?? "available",
  }));
  pets = (await store.staff.post("/pets/batch", batch)).body;
});
afterAll(async () => {
  expect(await store.findings()).toEqual([]);
  await store.stop();
});

const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);
const listed = async (query: string) => idsOf((await pagesOf(store.customer, `/pets?${query}`)).flat());
const refusedField = async (path: string) => {
  const { status, body } = await store.customer.get(path);
  expect([status, body.code]).toEqual([400, "invalid_parameter"]);
  return body.details[0].field;
};

describe("a page", () => {
  test("has 20 records unless told otherwise, and links to the next and to the first", async () => {
    const { body, headers } = await store.customer.get("/pets");
    expect(body).toEqual(pets.slice(0, 20));
    expect(headers.get("link")).toMatch(/^<\/pets\?cursor=[\w-]+>; rel="next", <\/pets>; rel="first"$/);
    const last = await store.customer.get(nextOf(headers) as string);
    expect(last.body).toEqual(pets.slice(20));
    expect(last.headers.get("link")).toBe(`</pets>; rel="first"`);
  });

  test("keeps the filters, the sort and the limit in its links", async () => {
    const { headers } = await store.customer.get("/pets?limit=2&status=sold&status=pending&sort=-name");
    const first = "/pets?limit=2&status=sold&status=pending&sort=-name";
    expect(nextOf(headers)).toStartWith(`${first}&cursor=`);
    expect(headers.get("link")).toEndWith(`<${first}>; rel="first"`);
    const next = await store.customer.get(nextOf(headers) as string);
    expect(next.headers.get("link")).toEndWith(`<${first}>; rel="first"`);
  });

  test.each([
    ["an empty query", "/pets?", 26],
    ["a name that is written in code", "/pets?%6cimit=5", 26],
    ["what may not stand in an address", '/pets?limit=5&name=">', 0],
  ])("asked for with %s has links that lead on", async (_, path, found) => {
    expect((await pagesOf(store.customer, path)).flat()).toHaveLength(found);
    const { headers } = await store.customer.get(path);
    expect(headers.get("link")).toMatch(/^(<[^<>" ]*>; rel="next", )?<[^<>" ]*>; rel="first"$/);
  });

  test.each(["?cursor=CURSOR&limit=5", "?cursor=CURSOR&limit=5&sort=id", "?limit=5&cursor=CURSOR&sort=id"])(
    "asked for with %s links on without that cursor",
    async (query) => {
      const { headers } = await store.customer.get("/pets?limit=5&sort=id");
      const cursor = new URLSearchParams(nextOf(headers)?.split("?")[1]).get("cursor") as string;
      const second = await store.customer.get(`/pets${query.replace("CURSOR", cursor)}`);
      const first = query.replace(/cursor=CURSOR&/, "");
      expect(second.headers.get("link")).toEndWith(`</pets${first}>; rel="first"`);
      const third = await store.customer.get(nextOf(second.headers) as string);
      expect(third.body).toEqual(pets.slice(10, 15));
    },
  );

  test("asked for with a cursor whose name is written in code links to the one after it", async () => {
    const { headers } = await store.customer.get("/pets?limit=5");
    const second = await store.customer.get(nextOf(headers)?.replace("cursor", "%63ursor") as string);
    const third = await store.customer.get(nextOf(second.headers) as string);
    expect(third.body).toEqual(pets.slice(10, 15));
  });

  test("that is exactly full is the last", async () => {
    const { headers } = await store.customer.get("/pets?limit=26");
    expect(nextOf(headers)).toBeUndefined();
    expect(await pagesOf(store.customer, "/pets?limit=13")).toHaveLength(2);
  });

  test("has 1 to 100 records", async () => {
    expect((await store.customer.get("/pets?limit=1")).body).toHaveLength(1);
    expect((await store.customer.get("/pets?limit=100")).body).toHaveLength(26);
    for (const limit of ["0", "101", "-1", "1.5", "ten", "", "9007199254740993"])
      expect(await refusedField(`/pets?limit=${limit}`)).toBe("limit");
  });

  test("of nothing is an empty array", async () => {
    const { status, body } = await store.customer.get("/pets?categoryId=4");
    expect([status, body]).toEqual([200, []]);
  });
});

describe("a parameter", () => {
  test.each(["/pets", "/categories", "/store/orders", "/store/inventory", "/pets/1", "/store/pets/1"])(
    "that %s does not know is refused by name",
    async (path) => {
      expect(await refusedField(`${path}?colour=red`)).toBe("colour");
    },
  );

  test("that is given twice is refused, unless it may be repeated", async () => {
    for (const name of ["limit", "categoryId"])
      expect(await refusedField(`/pets?${name}=1&${name}=2`)).toBe(name);
    expect(await listed("id=1&id=2&id=1")).toEqual([1, 2]);
  });

  test("has every problem told at once", async () => {
    const { body } = await store.customer.get(
      "/pets?colour=red&limit=0&status=lost&sort=age&categoryId=x&id=0",
    );
    const fields = body.details.map(({ field }: { field: string }) => field);
    expect(fields.sort()).toEqual(["categoryId", "colour", "id[0]", "limit", "sort", "status[0]"]);
  });
});

describe("a list of pets", () => {
  const filters: readonly [string, (pet: Shown) => boolean][] = [
    ["", () => true],
    ["status=sold", ({ status }) => status === "sold"],
    ["status=sold&status=pending&status=sold", ({ status }) => status !== "available"],
    ["status=sold&status=pending&status=available", () => true],
    ["categoryId=2", ({ categoryId }) => categoryId === 2],
    ["categoryId=2&status=available", ({ categoryId, status }) => categoryId === 2 && status === "available"],
    ["id=3&id=17&id=4&id=999&id=26", ({ id }) => [3, 4, 17, 26].includes(id)],
    ["id=3&id=17&id=4&status=sold", ({ id, status }) => [3, 17, 4].includes(id) && status === "sold"],
    ["id=3&id=17&id=4&categoryId=1", ({ id, categoryId }) => [3, 17, 4].includes(id) && categoryId === 1],
  ];
  const nameFilters: typeof filters = [
    ["name=rex", ({ name }) => /^rex/i.test(name)],
    ["name=%C3%A9MI", ({ name }) => /^émi/i.test(name)],
    ["name=%D0%96%D0%A3", ({ name }) => /^жу/i.test(name)],
    ["name=%F0%9F%90%95", ({ name }) => name.startsWith("🐕")],
    ["name=Zoe%CC%88", ({ name }) => name === "Zoë"],
    ["name=%EF%BC%A1b", ({ name }) => /^ab$/i.test(name)],
    ["name=%25", () => false],
    ["name=_", () => false],
    [
      "name=R&status=available&categoryId=1",
      (pet) => /^r/i.test(pet.name) && pet.status === "available" && pet.categoryId === 1,
    ],
    ["name=R&id=1&id=2&id=3&id=4", ({ id, name }) => id <= 4 && /^r/i.test(name)],
  ];
  const byId = (a: Shown, b: Shown) => a.id - b.id;
  const byName = (a: Shown, b: Shown) => codePoints(a.name.toLowerCase(), b.name.toLowerCase()) || byId(a, b);
  const sorts: readonly [string, (a: Shown, b: Shown) => number][] = [
    ["sort=id", byId],
    ["sort=-id", (a, b) => byId(b, a)],
    ["sort=name", byName],
    ["sort=-name", (a, b) => byName(b, a)],
  ];

  test.each(
    filters.flatMap(([query, keeps]) => sorts.map(([sort, order]) => ({ query, keeps, sort, order }))),
  )(
    "by $query in the order of $sort is the same on small pages and on one",
    async ({ query, keeps, sort, order }) => {
      const expected = idsOf(pets.filter(keeps).sort(order));
      for (const limit of [3, 100]) expect(await listed(`limit=${limit}&${sort}&${query}`)).toEqual(expected);
    },
  );

  test.each(nameFilters)("by %s comes by name, in either direction and not by id", async (query, keeps) => {
    const expected = idsOf(pets.filter(keeps).sort(byName));
    expect(await listed(`limit=2&${query}`)).toEqual(expected);
    expect(await listed(`limit=2&${query}&sort=name`)).toEqual(expected);
    expect(await listed(`limit=2&${query}&sort=-name`)).toEqual(expected.reverse());
    for (const sort of ["id", "-id"]) expect(await refusedField(`/pets?${query}&sort=${sort}`)).toBe("sort");
  });

  test("takes up to 100 ids", async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `id=${index + 1}`);
    expect((await store.customer.get(`/pets?limit=100&${ids.slice(1).join("&")}`)).body).toEqual(
      pets.slice(1),
    );
    expect(await refusedField(`/pets?${ids.join("&")}`)).toBe("id");
  });

  test.each(["name=", "name=%20", "name=%00", `name=${"x".repeat(201)}`])(
    "is not searched by %s",
    async (query) => {
      expect(await refusedField(`/pets?${query}`)).toBe("name");
    },
  );
});

test("a list of categories comes by id, and by name when it is searched by name", async () => {
  const named = async (query: string) =>
    (await pagesOf(store.customer, `/categories?limit=1&${query}`)).flat().map(({ name }) => name);
  expect(await named("")).toEqual(["Dogs", "Cats", "dogfish", "Dodos"]);
  expect(await named("name=DO")).toEqual(["Dodos", "dogfish", "Dogs"]);
  expect(await named("name=dogs")).toEqual(["Dogs"]);
  expect(await named("name=ogs")).toEqual([]);
});

test("names that folding makes too long to be kept whole are told apart by their ends", async () => {
  const long = ["ﬃ", "㍿", "ﷺ"].map((letter) => letter.repeat(199));
  const names = long.flatMap((each) => [`${each}a`, `${each}B`]);
  const search = async (path: string, name: string) => {
    const found: string[] = [];
    let next: string | undefined = `${path}?limit=1&name=${encodeURIComponent(name)}`;
    while (next) {
      const { body, headers } = await store.customer.get(next);
      found.push(...body.map((each: { name: string }) => each.name));
      next = nextOf(headers);
    }
    return found.sort();
  };
  for (const path of ["/pets", "/categories"]) {
    for (const name of names)
      expect(
        (await store.staff.post(path, path === "/pets" ? { name, categoryId: 1 } : { name })).status,
      ).toBe(201);
    for (const name of names) expect(await search(path, name)).toEqual([name]);
    for (const each of long) expect(await search(path, each)).toEqual([`${each}B`, `${each}a`].sort());
    expect(await search(path, "ffiﬃ")).toEqual([`${long[0]}B`, `${long[0]}a`].sort());
  }
});

describe("a cursor", () => {
  test("is good for the sort that it was made for", async () => {
    const cursorOf = async (query: string) => {
      const { headers } = await store.customer.get(`/pets?limit=3&${query}`);
      return new URL(nextOf(headers) as string, "http://x").searchParams.get("cursor");
    };
    const sorts = ["id", "-id", "name", "-name"];
    for (const made of sorts)
      for (const used of sorts) {
        const path = `/pets?sort=${used}&cursor=${await cursorOf(`sort=${made}`)}`;
        if (made === used) expect((await store.customer.get(path)).status).toBe(200);
        else expect(await refusedField(path)).toBe("cursor");
      }
    const cursor = await cursorOf("sort=id");
    expect(await refusedField(`/store/inventory?maxQuantity=5&cursor=${cursor}`)).toBe("cursor");
    expect(await refusedField(`/categories?name=d&cursor=${cursor}`)).toBe("cursor");
    expect(await refusedField(`/store/orders?shippedAfter=2026-01-01T00:00:00Z&cursor=${cursor}`)).toBe(
      "cursor",
    );
  });

  test.each(["", "x", "WyJwZXRzLmlkIl0", "bnVsbA", "a".repeat(2001), "%00"])("is not %s", async (cursor) => {
    expect(await refusedField(`/pets?cursor=${cursor}`)).toBe("cursor");
  });

  test.each(["a\0b", "\ud800"])("is not one behind the name %j, which no pet can have", async (name) => {
    const cursor = Buffer.from(JSON.stringify(["pets.name", name, 1])).toString("base64url");
    expect(await refusedField(`/pets?sort=name&cursor=${cursor}`)).toBe("cursor");
    const behindA = Buffer.from(JSON.stringify(["pets.name", "a", 1])).toString("base64url");
    expect((await store.customer.get(`/pets?sort=name&cursor=${behindA}`)).status).toBe(200);
  });
});

/** UTF-8 sorts as code points do. */
function codePoints(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
