import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Role, roles } from "../../src/contract/route.ts";
import { aStore, nextOf, type Person, pagesOf, type Reply, type TestStore } from "../harness.ts";
import { aClient, aKey, denied } from "./trail.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

/** A client's keys of all roles by turns, oldest first; the last of each role can ask. */
async function aClientWithKeys(count: number) {
  const { id } = await aClient(store, { plan: "business" });
  const made: { id: number; role: Role }[] = [];
  const askers = {} as Record<Role, Person>;
  for (let index = 0; index < count; index++) {
    const role = roles[index % roles.length] as Role;
    const key = await aKey(store, id, { role });
    made.push(key.made);
    askers[role] = key.person;
  }
  return { id, made, askers };
}

const idsOf = (records: Reply["body"][]): number[] => records.map(({ id }) => id);

describe("a client's keys", () => {
  test("come in pages of 20, oldest first, each once, also those that no longer work", async () => {
    const { id, made } = await aClientWithKeys(45);
    for (const { id: keyId } of made.slice(0, 10)) await store.admin.delete(`/admin/keys/${keyId}`);
    const pages = await pagesOf(store.admin, `/admin/clients/${id}/keys`);
    expect(pages.map(({ length }) => length)).toEqual([20, 20, 5]);
    expect(idsOf(pages.flat())).toEqual(idsOf(made));
    expect(pages.flat().filter(({ revokedAt }) => revokedAt !== undefined)).toHaveLength(10);
  });

  test("are shown to one of them in pages of those that it may see", async () => {
    const { made, askers } = await aClientWithKeys(9);
    for (const [rank, role] of roles.entries()) {
      const pages = await pagesOf(askers[role], "/account/keys?limit=2");
      const within = made.filter((each) => roles.indexOf(each.role) <= rank);
      expect(idsOf(pages.flat())).toEqual(idsOf(within));
      expect(pages.slice(0, -1).every((page) => page.length === 2)).toBe(true);
    }
  });

  test("are shown as many as are asked for, from 1 to 100", async () => {
    const { id } = await aClientWithKeys(3);
    for (const at of [`/admin/clients/${id}/keys`, "/account/keys"])
      for (const limit of [0, 101]) {
        const { body } = await denied(store, () => store.admin.get(`${at}?limit=${limit}`));
        expect(body).toMatchObject({ code: "invalid_parameter", details: [{ field: "limit" }] });
      }
    const { body, headers } = await store.admin.get(`/admin/clients/${id}/keys?limit=100`);
    expect([body.length, nextOf(headers)]).toEqual([3, undefined]);
  });
});

describe("a key of one's own client", () => {
  test("is shown as the list shows it, to a key that may see it, and to no other", async () => {
    const { made, askers } = await aClientWithKeys(3);
    for (const [rank, asking] of roles.entries())
      for (const { id, role } of made) {
        const { status, body } = await askers[asking].get(`/account/keys/${id}`);
        const listed = (await askers[asking].get("/account/keys")).body.find(
          (each: { id: number }) => each.id === id,
        );
        // Its last use may be written down between the two.
        const lasting = (key: object) => ({ ...key, lastUsedAt: undefined });
        if (roles.indexOf(role) <= rank) expect(lasting(body)).toEqual(lasting(listed));
        else expect([status, body.code, listed]).toEqual([404, "key_not_found", undefined]);
      }
    const { body } = await store.customer.get(`/account/keys/${made[0]?.id}`);
    expect(body.code).toBe("key_not_found");
  });
});
