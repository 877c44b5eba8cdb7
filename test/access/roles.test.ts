import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { type Role, roles, successStatus } from "../../src/contract/route.ts";
import { aStore, type Person, type Reply, type TestStore } from "../harness.ts";
import { aHook } from "../webhooks/receiver.ts";
import { aClient, aKey, denied, holder } from "./trail.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore({ ANONYMOUS_PER_MINUTE: "1000000", ANONYMOUS_PER_DAY: "1000000" });
});
afterAll(() => store.stop());

const adminEndpoints = everyEndpoint.filter(({ id }) => id.startsWith("admin."));

test("there are admin operations to try, and each asks for the role admin", () => {
  expect(adminEndpoints.length).toBeGreaterThanOrEqual(15);
  expect(adminEndpoints.filter(({ route }) => route.role !== "admin")).toEqual([]);
});

describe.each(adminEndpoints.map((endpoint) => [endpoint.id, endpoint] as const))("%s", (_, endpoint) => {
  const { method, path, route } = endpoint;
  /** The operation on a client, a key and a webhook of their own. */
  const call = async (person: Person) => {
    const { id } = await aClient(store);
    const { made, person: owner } = await aKey(store, id);
    const hook = await aHook(owner, { url: "https://shop.example/events" });
    if (endpoint.id === "admin.bans.lift")
      expect((await store.admin.put(`/admin/keys/${made.id}/ban`, { minutes: 5 })).status).toBe(200);
    const ids: Record<string, number> = { clientId: id, keyId: made.id, webhookId: hook.id };
    const at = path.replace(/\{(\w+)\}/g, (_, name) => String(ids[name]));
    return () => person.send(method, at, route.body ? { body: route.example.body } : {});
  };

  test.each(["customer", "staff"] as const)("is not for a key of the role %s", async (role) => {
    const { status, body } = await denied(store, await call(store[role]));
    expect([status, body.code]).toEqual([403, "forbidden"]);
    expect(body.message).toContain(`the role ${role}`);
  });

  test("is not for anybody without a key", async () => {
    const { status, body } = await denied(store, await call(store.nobody));
    expect([status, body.code]).toEqual([401, "missing_api_key"]);
  });

  test("is for a key of the role admin", async () => {
    const { status } = await (await call(store.admin))();
    expect(status).toBe(successStatus(route));
  });
});

test.each(["/account", "/account/usage", "/account/limits", "/account/keys"])(
  "%s is for every role",
  async (path) => {
    for (const role of roles) expect([role, (await store[role].get(path)).status]).toEqual([role, 200]);
  },
);

/** Every pair of roles: who asks, whom it is about, and whether the one reaches the other. */
const pairs = roles.flatMap((asking) =>
  roles.map((target) => [asking, target, roles.indexOf(target) <= roles.indexOf(asking)] as const),
);

describe.each(pairs)(
  "a key of the role %s, and one of the role %s: within reach %p",
  (asking, target, isWithin) => {
    const both = async () => {
      const { id } = await aClient(store);
      const { person } = await aKey(store, id, { role: asking });
      const other = await aKey(store, id, { role: target });
      return { person, other };
    };
    const works = async (person: Person) => (await person.get("/pets")).status === 200;

    test("sees it, or not", async () => {
      const { person, other } = await both();
      const { body } = await person.get("/account/keys");
      expect(body.some((key: Reply["body"]) => key.id === other.made.id)).toBe(isWithin);
      expect(body.some((key: Reply["body"]) => key.id === person.keyId)).toBe(true);
    });

    test("revokes it, or is told that there is none", async () => {
      const { person, other } = await both();
      const revoke = () => person.delete(`/account/keys/${other.made.id}`);
      if (isWithin) expect((await revoke()).status).toBe(204);
      else expect((await denied(store, revoke)).body.code).toBe("key_not_found");
      expect(await works(other.person)).toBe(!isWithin);
    });

    test("rotates it, or is told that there is none", async () => {
      const { person, other } = await both();
      const rotate = () => person.post(`/account/keys/${other.made.id}/rotation`, { overlapDays: 0 });
      if (isWithin) {
        const { status, body } = await rotate();
        expect([status, body.role]).toEqual([201, target]);
        expect(await works(holder(store, body))).toBe(true);
      } else expect((await denied(store, rotate)).body.code).toBe("key_not_found");
      expect(await works(other.person)).toBe(!isWithin);
    });

    test("makes one like it, or is refused", async () => {
      const { person } = await both();
      const make = () => person.post("/account/keys", { role: target, name: "another" });
      if (isWithin) {
        const { status, body } = await make();
        expect([status, body.role, body.clientId]).toEqual([201, target, person.clientId]);
        expect(await works(holder(store, body))).toBe(true);
      } else {
        const { status, body } = await denied(store, make);
        expect([status, body.code]).toEqual([403, "role_too_high"]);
      }
    });

    test("does not reach it in another client", async () => {
      const { person } = await both();
      const { other } = await both();
      const { body } = await person.get("/account/keys");
      expect(body.some((key: Reply["body"]) => key.id === other.made.id)).toBe(false);
      for (const send of [
        () => person.delete(`/account/keys/${other.made.id}`),
        () => person.post(`/account/keys/${other.made.id}/rotation`, { overlapDays: 7 }),
      ]) {
        const { status, body: refusal } = await denied(store, send);
        expect([status, refusal.code]).toEqual([404, "key_not_found"]);
      }
      expect(await works(other.person)).toBe(true);
    });
  },
);

test("what is out of reach is refused in the words of what is not there", async () => {
  const { id } = await aClient(store);
  const { person } = await aKey(store, id);
  const { made: above } = await aKey(store, id, { role: "admin" });
  const messages = await Promise.all(
    [above.id, store.stranger.keyId, 4711].map(async (keyId) => {
      const { body } = await person.delete(`/account/keys/${keyId}`);
      return body.message.replace(String(keyId), "N");
    }),
  );
  expect(new Set(messages).size).toBe(1);
});

test("a kept answer shows no key above the role of whoever repeats the request", async () => {
  const { id } = await aClient(store);
  const { person: staff } = await aKey(store, id, { role: "staff" });
  const { person: customer } = await aKey(store, id);
  const headers = { "idempotency-key": "one-for-both" };
  const wanted = { role: "staff" satisfies Role };
  expect((await staff.post("/account/keys", wanted, headers)).status).toBe(201);
  const { status, body } = await customer.post("/account/keys", wanted, headers);
  expect({ status, code: body.code, lastFour: body.lastFour }).toEqual({
    status: 422,
    code: "idempotency_key_reused",
    lastFour: undefined,
  });
});
