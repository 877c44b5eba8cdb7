import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aStore, refused, type TestStore } from "../harness.ts";

// 2^53 + 1 is the first integer that a double cannot hold: rounded, it would be the record beside it.
const ABOVE = "9007199254740993";
const ROUNDED = "9007199254740992";
const LAST = "9223372036854775807";
const TOO_LARGE = "9223372036854775808";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
  await store.aPet(5);
  await store.customer.post("/store/orders", { petId: 1 });
  for (const statement of [
    `insert into categories (id, name, name_key, created_at) values (${ROUNDED}, 'Near', 'near', 0)`,
    `insert into pets (id, name, name_key, category_id, status, quantity, open_orders, created_at)
      values (${ROUNDED}, 'Near', 'near', ${ROUNDED}, 'available', 1, 0, 0)`,
    `insert into movements (pet_id, change, balance, reason, at) values (${ROUNDED}, 1, 1, 'created', 0)`,
    `update pets set last_movement_id = (select max(id) from movements) where id = ${ROUNDED}`,
    `insert into orders (id, client_id, complete, created_at) values (${ROUNDED}, 1, 0, 0)`,
  ])
    await store.beside.db.exec(statement);
});
afterAll(async () => {
  expect(await store.findings()).toEqual([]);
  await store.stop();
});

const records = ["/pets/ID", "/store/pets/ID", "/store/inventory/ID", "/store/orders/ID", "/categories/ID"];
const writes: readonly { method: string; path: string; body?: unknown }[] = [
  { method: "PUT", path: "/pets/ID", body: { name: "Max", categoryId: 1 } },
  { method: "PATCH", path: "/pets/ID", body: { name: "Max" } },
  { method: "DELETE", path: "/pets/ID" },
  { method: "PUT", path: "/store/inventory/ID", body: { quantity: 7 } },
  { method: "PATCH", path: "/store/orders/ID", body: { quantity: 7 } },
  { method: "DELETE", path: "/store/orders/ID" },
  { method: "PUT", path: "/categories/ID", body: { name: "Cats" } },
  { method: "PATCH", path: "/categories/ID", body: { name: "Cats" } },
  { method: "DELETE", path: "/categories/ID" },
];

describe.each([ABOVE, LAST])("the id %s", (id) => {
  test.each([...records, "/store/inventory/ID/movements"])("names nothing to read at %s", async (path) => {
    expect((await store.staff.get(path.replace("ID", id))).status).toBe(404);
  });

  test.each(writes)("names nothing to $method at $path", async ({ method, path, body }) => {
    const send = () => store.staff.send(method, path.replace("ID", id), { body });
    expect((await refused(store, send)).status).toBe(404);
  });

  test("names no category and no pet in a body", async () => {
    const codeOf = async (method: string, path: string, raw: string) =>
      (await refused(store, () => store.staff.send(method, path, { raw }))).code;
    expect(await codeOf("POST", "/pets", `{"name":"Rex","categoryId":${id}}`)).toBe("unknown_category");
    expect(await codeOf("POST", "/pets/batch", `[{"name":"Rex","categoryId":${id}}]`)).toBe(
      "unknown_category",
    );
    expect(await codeOf("PATCH", "/pets/1", `{"categoryId":${id}}`)).toBe("unknown_category");
    expect(await codeOf("PUT", "/pets/1", `{"name":"Rex","categoryId":${id}}`)).toBe("unknown_category");
    expect(await codeOf("POST", "/store/orders", `{"petId":${id}}`)).toBe("unknown_pet");
    expect(await codeOf("PATCH", "/store/orders/1", `{"petId":${id}}`)).toBe("unknown_pet");
    expect(await codeOf("PATCH", "/store/orders/1", `{"id":${id}}`)).toBe("invalid_body");
  });

  test("finds nothing in a filter", async () => {
    for (const query of [`/pets?id=${id}`, `/pets?categoryId=${id}`, `/store/orders?petId=${id}`]) {
      const { status, body } = await store.staff.get(query);
      expect([status, body]).toEqual([200, []]);
    }
  });

  test("is told exactly in the message", async () => {
    expect((await store.staff.get(`/store/pets/${id}`)).body.message).toContain(id);
  });
});

describe("an id past int64", () => {
  test.each([...records, "/store/inventory/ID/movements"])("is refused at %s", async (path) => {
    for (const id of [TOO_LARGE, "99999999999999999999"]) {
      const { status, body } = await store.staff.get(path.replace("ID", id));
      expect([status, body.code]).toEqual([400, "invalid_parameter"]);
    }
  });

  test("is refused in a body and in a filter", async () => {
    for (const raw of [`{"petId":${TOO_LARGE}}`, `{"petId":-${LAST}}`, `{"petId":1e30}`]) {
      const { code, details } = await refused(store, () =>
        store.staff.send("POST", "/store/orders", { raw }),
      );
      expect([code, details[0].field]).toEqual(["invalid_body", "petId"]);
    }
    for (const query of [
      `/pets?id=${TOO_LARGE}`,
      `/pets?categoryId=${TOO_LARGE}`,
      `/store/orders?petId=${TOO_LARGE}`,
    ])
      expect((await store.staff.get(query)).body.code).toBe("invalid_parameter");
  });
});

test.each([
  ["1.00000000000000000001", "must be an integer, got a number with a fraction"],
  ["1e400", "must be an integer, got a number that is too large"],
  ["-1e400", "must be an integer, got a number that is too large"],
])("%s in a body is no id, and the refusal says what it is", async (id, message) => {
  const raw = `{"name":"Rex","categoryId":${id}}`;
  const { details } = await refused(store, () => store.staff.send("POST", "/pets", { raw }));
  expect(details).toEqual([{ field: "categoryId", message }]);
});
