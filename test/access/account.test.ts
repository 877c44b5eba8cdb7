import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { roles } from "../../src/contract/route.ts";
import { eventually } from "../cli/command.ts";
import { aStore, NOON, type Reply, type TestStore } from "../harness.ts";
import { aClient, aKey, DAY_MS, denied } from "./trail.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

describe("an account", () => {
  test.each([...roles])("tells a key of the role %s whose it is and what it may ask for", async (role) => {
    const { id } = await aClient(store, { name: "Corner shop", plan: "pro" });
    const { made, person } = await aKey(store, id, { role, name: "till", expiresInDays: 5 });
    const { key: _secret, ...shown } = made;
    const { status, body } = await person.get("/account");
    expect(status).toBe(200);
    expect(body.client).toEqual({ id, name: "Corner shop", plan: "pro", perMinute: 300, perDay: 10_000 });
    expect(body.key).toMatchObject(shown);
    expect(body.key).not.toHaveProperty("key");
  });

  test("follows a change of plan and name", async () => {
    const { id } = await aClient(store);
    const { person } = await aKey(store, id);
    await store.admin.patch(`/admin/clients/${id}`, {
      name: "Chain",
      plan: "enterprise",
      perMinute: 70,
      perDay: 71,
    });
    const { body } = await person.get("/account");
    expect(body.client).toEqual({ id, name: "Chain", plan: "enterprise", perMinute: 70, perDay: 71 });
  });

  test("has no parameters: nobody can ask for another's", async () => {
    const { body } = await denied(store, () =>
      store.customer.get(`/account?clientId=${store.stranger.clientId}`),
    );
    expect(body).toMatchObject({ code: "invalid_parameter", details: [{ field: "clientId" }] });
  });
});

describe("usage", () => {
  /** The usage, when as much has been counted as was asked for. */
  const whenCounted = async (ask: () => Promise<Reply>, isThere: (body: Reply["body"]) => boolean) => {
    expect(await eventually(async () => isThere((await ask()).body), 2000)).toBe(true);
    return (await ask()).body;
  };

  test("is counted by day, operation and class of status, for the client alone", async () => {
    const { id } = await aClient(store, { name: "Counted", plan: "business" });
    const { person } = await aKey(store, id);
    const { person: sibling } = await aKey(store, id);
    await person.get("/pets");
    await sibling.get("/pets");
    await person.get("/store/pets/4711");
    await person.get("/nowhere");
    const ask = () => store.admin.get(`/admin/usage?clientId=${id}&from=2026-11-14&to=2026-11-15`);
    const ofAdmin = await whenCounted(ask, ({ total }) => total[1] === 4);
    expect(ofAdmin).toEqual({
      days: ["2026-11-14", "2026-11-15"],
      total: [0, 4],
      byOperation: { "pets.list": [0, 2], "store.pet": [0, 1], none: [0, 1] },
      byStatus: { "2xx": [0, 2], "4xx": [0, 2] },
      topClients: [{ clientId: id, name: "Counted", requests: 4 }],
    });
    const { body: own } = await person.get("/account/usage?from=2026-11-14&to=2026-11-15");
    const { topClients: _, ...same } = ofAdmin;
    expect(own).toEqual(same);
  });

  test("goes on a new line of its own each day, and shows 30 days by default", async () => {
    await using own = await aStore();
    const { id } = await aClient(own);
    const { person } = await aKey(own, id);
    await person.get("/pets");
    own.clock.now += DAY_MS;
    await person.get("/pets");
    await person.get("/pets");
    const ask = () => own.admin.get(`/admin/usage?clientId=${id}`);
    const body = await whenCounted(ask, ({ total }) => total[29] === 2);
    expect(body.days).toHaveLength(30);
    expect([body.days[0], body.days[29]]).toEqual(["2026-10-18", "2026-11-16"]);
    expect(body.total.slice(-3)).toEqual([0, 1, 2]);
  });

  test("names the busiest clients first, and one that was removed as such", async () => {
    await using own = await aStore();
    const { id } = await aClient(own, { name: "Gone" });
    const { person } = await aKey(own, id);
    for (let asked = 0; asked < 30; asked++) await person.get("/pets");
    await own.admin.delete(`/admin/clients/${id}`);
    const { body } = await own.admin.get("/admin/usage");
    expect(body.topClients[0]).toEqual({ clientId: id, name: "removed", requests: 30 });
    const requests = body.topClients.map((each: Reply["body"]) => each.requests);
    expect(requests).toEqual([...requests].sort((a, b) => b - a));
  });

  test.each([
    ["from=2026-11-16&to=2026-11-15", "from"],
    ["from=2026-08-15&to=2026-11-15", "from"],
    ["from=yesterday", "from"],
    ["to=2026-11-31", "to"],
    ["days=7", "days"],
  ])("for %s is refused by the name of the parameter", async (query, field) => {
    for (const path of [`/account/usage?${query}`, `/admin/usage?${query}`]) {
      const { body } = await denied(store, () => store.admin.get(path));
      expect(body).toMatchObject({ code: "invalid_parameter", details: [{ field }] });
    }
  });

  test("of 92 days can be had at once", async () => {
    const from = new Date(NOON - 91 * DAY_MS).toISOString().slice(0, 10);
    const { status, body } = await store.customer.get(`/account/usage?from=${from}`);
    expect([status, body.days.length]).toEqual([200, 92]);
  });
});
