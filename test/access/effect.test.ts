import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Command, perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { eventually } from "../cli/command.ts";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { aWire, told } from "../http/wire.ts";
import { aClient, aKey, denied } from "./trail.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore({ ANONYMOUS_PER_MINUTE: "1000000", ANONYMOUS_PER_DAY: "1000000" });
});
afterAll(() => store.stop());

/** What a key meets now: its plan's limit for a minute, or the code of its refusal. */
async function meets(person: Person): Promise<string> {
  const { status, body, headers } = await person.get("/pets");
  if (status !== 200) return body.code;
  return /"minute";q=(\d+)/.exec(headers.get("ratelimit-policy") ?? "")?.[1] ?? "no policy";
}

interface Change {
  readonly name: string;
  readonly method: "PATCH" | "DELETE" | "PUT" | "POST";
  readonly path: (person: Person) => string;
  readonly operation: string;
  readonly input: (person: Person) => Record<string, unknown>;
  readonly meets: string;
}

const ofClient = ({ clientId }: Person) => `/admin/clients/${clientId}`;
const ofKey = ({ keyId }: Person) => `/admin/keys/${keyId}`;
/** One after another on one key: each from what the one before left. */
const changes: Change[] = [
  {
    name: "a higher plan",
    method: "PATCH",
    path: ofClient,
    operation: "admin.clients.update",
    input: ({ clientId }) => ({ clientId, body: { plan: "business" } }),
    meets: "1000",
  },
  {
    name: "numbers of its own",
    method: "PATCH",
    path: ofClient,
    operation: "admin.clients.update",
    input: ({ clientId }) => ({ clientId, body: { plan: "enterprise", perMinute: 777, perDay: 7777 } }),
    meets: "777",
  },
  {
    name: "a suspension",
    method: "PATCH",
    path: ofClient,
    operation: "admin.clients.update",
    input: ({ clientId }) => ({ clientId, body: { suspended: true } }),
    meets: "client_suspended",
  },
  {
    name: "the end of the suspension",
    method: "PATCH",
    path: ofClient,
    operation: "admin.clients.update",
    input: ({ clientId }) => ({ clientId, body: { suspended: false } }),
    meets: "777",
  },
  {
    name: "a ban",
    method: "PUT",
    path: (person) => `${ofKey(person)}/ban`,
    operation: "admin.bans.impose",
    input: ({ keyId }) => ({ keyId, body: { minutes: 5 } }),
    meets: "key_banned",
  },
  {
    name: "the end of the ban",
    method: "DELETE",
    path: (person) => `${ofKey(person)}/ban`,
    operation: "admin.bans.lift",
    input: ({ keyId }) => ({ keyId }),
    meets: "777",
  },
  {
    name: "a rotation without overlap",
    method: "POST",
    path: (person) => `${ofKey(person)}/rotation`,
    operation: "admin.keys.rotate",
    input: ({ keyId }) => ({ keyId, body: { overlapDays: 0 } }),
    meets: "revoked_api_key",
  },
];

const aUsedKey = async () => {
  const { person } = await aKey(store, (await aClient(store)).id);
  expect(await meets(person)).toBe("60");
  return person;
};

test("a change over the API holds for the very next request", async () => {
  const person = await aUsedKey();
  for (const { name, method, path, input, meets: then } of changes) {
    const { body } = input(person);
    const reply = await store.admin.send(method, path(person), body === undefined ? {} : { body });
    expect([name, reply.status < 300]).toEqual([name, true]);
    expect([name, await meets(person)]).toEqual([name, then]);
  }
});

describe("a change over the API holds for the very next request:", () => {
  test("a revocation", async () => {
    const person = await aUsedKey();
    await store.admin.delete(`/admin/keys/${person.keyId}`);
    expect(await meets(person)).toBe("revoked_api_key");
  });

  test("a removal of the client", async () => {
    const person = await aUsedKey();
    await store.admin.delete(`/admin/clients/${person.clientId}`);
    expect(await meets(person)).toBe("revoked_api_key");
  });

  test("also for requests that were under way with it, once it is answered", async () => {
    const person = await aUsedKey();
    const storm = Array.from({ length: 20 }, () => person.get("/pets"));
    await store.admin.delete(`/admin/keys/${person.keyId}`);
    const after = await Promise.all(Array.from({ length: 20 }, () => meets(person)));
    expect(new Set(after)).toEqual(new Set(["revoked_api_key"]));
    for (const { status } of await Promise.all(storm)) expect([200, 401]).toContain(status);
  });
});

describe("a key whose request is under way when it stops working does nothing with it:", () => {
  const ends: [string, (person: Person) => string][] = [
    ["revoked", ofKey],
    ["its client removed", ofClient],
  ];
  const requests: [string, unknown][] = [
    ["POST /account/keys", {}],
    ["POST /store/orders", { quantity: 1 }],
    ["POST /webhooks", { url: "https://shop.example/" }],
  ];

  test.each(ends)("%s while the body is on its way", async (_, end) => {
    for (const [line, body] of requests) {
      const person = await aUsedKey();
      using wire = await aWire(store.url);
      const [head, text] = told(person, line, body, "Expect: 100-continue").split("\r\n\r\n");
      wire.say(`${head}\r\n\r\n`);
      expect((await wire.answer()).status).toBe(100);
      await store.admin.delete(end(person));
      const refused = await denied(store, async () => {
        wire.say(text as string);
        return wire.answer();
      });
      expect([line, refused.status, refused.body.code]).toEqual([line, 401, "revoked_api_key"]);
    }
  });

  test.each(ends)("%s while it waits for its turn to write", async (_, end) => {
    const person = await aUsedKey();
    await store.admin.delete(end(person));
    const made = performedBy(person, "account.keys.create", { role: "customer" });
    await expect(made).rejects.toMatchObject({ code: "revoked_api_key" });
  });

  test("a removed client gets no webhook", async () => {
    const person = await aUsedKey();
    await store.admin.delete(ofClient(person));
    const made = performedBy(person, "webhooks.create", { url: "https://shop.example/" });
    await expect(made).rejects.toMatchObject({ code: "revoked_api_key" });
  });
});

/** A write of somebody who was let in before. */
async function performedBy({ clientId, keyId }: Person, operation: string, body: object): Promise<unknown> {
  const caller = { clientId, keyId, role: "customer" } as const;
  const random = crypto.getRandomValues(new Uint8Array(32));
  const command: Command = {
    operation,
    changesAccess: true,
    caller,
    input: { body },
    now: store.clock.now,
    random,
  };
  return store.beside.transact((writes) => perform(writes, command, rulesOf(store.config)));
}

test("a change by another process holds within a second", async () => {
  const person = await aUsedKey();
  for (const { name, operation, input, meets: then } of changes) {
    const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
    const random = crypto.getRandomValues(new Uint8Array(32));
    const command = { operation, caller, input: input(person), now: store.clock.now, random };
    await store.beside.transact((writes) => perform(writes, command, rulesOf(store.config)));
    expect([name, await eventually(async () => (await meets(person)) === then, 1000)]).toEqual([name, true]);
  }
});
