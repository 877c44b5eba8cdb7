import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { OPERATOR, operator } from "../../src/core/clients.ts";
import { aStore, NOON, type TestStore } from "../harness.ts";
import { aClient, denied } from "./trail.ts";

const agreed = { plan: "enterprise", perMinute: 5, perDay: 50 } as const;

let store: TestStore;
/** The operator's own client, and two of its name from before the name was kept for it: one older, one newer. */
let own: number;
let older: number;
let newer: number;

beforeAll(async () => {
  store = await aStore();
  [older, own, newer] = await store.beside.transact(async (writes) => {
    const first = await writes.addClient({ name: OPERATOR, plan: "free", perMinute: 60, perDay: 1000 }, NOON);
    const { id } = await operator(writes, NOON);
    const last = await writes.addClient({ name: OPERATOR, ...agreed }, NOON);
    return [first.id, id, last.id] as const;
  });
});
afterAll(() => store.stop());

describe("the operator's own client", () => {
  test.each([
    [{ suspended: true }, "suspended"],
    [{ name: "renamed" }, "renamed"],
    [{ name: "renamed", suspended: true }, "suspended"],
    [{ plan: "free" }, "moved to another plan"],
  ])("refuses %j: it cannot be %s", async (change, what) => {
    const { status, body } = await denied(store, () => store.admin.patch(`/admin/clients/${own}`, change));
    expect([status, body.code]).toEqual([409, "operator_client"]);
    expect(body.message).toStartWith(`Client ${own} is the operator's own and cannot be ${what}.`);
  });

  test("cannot be removed", async () => {
    const { body } = await denied(store, () => store.admin.delete(`/admin/clients/${own}`));
    expect(body.code).toBe("operator_client");
  });

  test("takes other numbers, and the name and plan that it has", async () => {
    const change = { name: OPERATOR, plan: "enterprise", perMinute: 7, perDay: 70, suspended: false };
    const { status, body } = await store.admin.patch(`/admin/clients/${own}`, change);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: own, ...change });
  });

  test("is the oldest of its name and plan", async () => {
    const found = await store.beside.transact((writes) => operator(writes, NOON));
    expect(found.id).toBe(own);
  });
});

describe("the operator's name", () => {
  test.each([[agreed], [{ plan: "free" }]])("is not for a new client with %j", async (plan) => {
    const { status, body } = await denied(store, () =>
      store.admin.post("/admin/clients", { name: OPERATOR, ...plan }),
    );
    expect([status, body.code]).toEqual([409, "operator_client"]);
    expect(body.message).toBe(
      "The name operator is kept for the operator's own client. Give the client another name.",
    );
  });

  test("is not for a client that has another", async () => {
    const { id } = await aClient(store, agreed);
    const { body } = await denied(store, () => store.admin.patch(`/admin/clients/${id}`, { name: OPERATOR }));
    expect(body.code).toBe("operator_client");
  });

  test("does not lead an older client of that name into the operator's place", async () => {
    const { body } = await denied(store, () => store.admin.patch(`/admin/clients/${older}`, agreed));
    expect(body.code).toBe("operator_client");
  });

  test("is of no use to a newer client, which can be suspended, renamed and removed", async () => {
    const at = `/admin/clients/${newer}`;
    expect((await store.admin.patch(at, { suspended: true })).body.suspended).toBe(true);
    expect((await store.admin.patch(at, { name: "Shop" })).body.name).toBe("Shop");
    expect((await store.admin.delete(at)).status).toBe(204);
  });
});
