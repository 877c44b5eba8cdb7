import { afterAll, beforeEach, expect, test } from "bun:test";
import type { Role } from "../../src/contract/route.ts";
import { Failure } from "../../src/core/failure.ts";
import { hashOf, KEY_BYTES, keyFrom } from "../../src/core/key-format.ts";
import type { KnownKey } from "../../src/core/ports.ts";
import { type Asked, type Callers, callers } from "../../src/http/caller.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { aFolder } from "../cli/command.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const folder = aFolder();
const store = openStore(folder.database, NOW);
afterAll(() => {
  store.close();
  folder[Symbol.dispose]();
});

let lookUps: string[];
let introduced: KnownKey[];
let used: [keyId: number, at: number][];
let known: Callers;

beforeEach(() => {
  lookUps = [];
  introduced = [];
  used = [];
  known = callers({
    store: {
      keyByHash: (hash) => {
        lookUps.push(hash);
        return store.reads.keyByHash(hash);
      },
    },
    introduce: (key) => void introduced.push(key),
    keyWasUsed: (keyId, at) => void used.push([keyId, at]),
  });
});

/** A key of a new client, as it is sent, and its id. */
async function aKey({ role = "staff", expiresAt = null as number | null } = {}) {
  const key = keyFrom(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
  const { id, clientId } = await store.transact(async (writes) => {
    const client = await writes.addClient({ name: "Shop", plan: "pro", perMinute: 300, perDay: 10_000 }, NOW);
    const wanted = { clientId: client.id, role: role as Role, name: null, expiresAt };
    return writes.addKey({ ...wanted, hash: hashOf(key), lastFour: key.slice(-4) }, NOW);
  });
  return { key, id, clientId };
}

function asked(headers: Record<string, string>, url = "http://petstore/pets"): Asked {
  return { url, headers: new Headers(headers), peer: "127.0.0.1" };
}

/** The code that a request is refused with, or "let in". */
async function outcome(request: Asked, now = NOW): Promise<string> {
  const caller = await known.identify(request, now);
  return caller instanceof Failure ? caller.code : "let in";
}

test("a key is looked up once, by its hash, and the limiter is told what is known of it", async () => {
  const { key, id, clientId } = await aKey();
  for (let each = 0; each < 5; each++) {
    const caller = await known.identify(asked({ "x-api-key": key }), NOW + each);
    expect(caller).toMatchObject({ keyId: id, clientId, role: "staff", perMinute: 300, perDay: 10_000 });
  }
  expect(lookUps).toEqual([hashOf(key)]);
  expect(introduced.map((each) => each.id)).toEqual([id]);
});

test("one key too many forgets nobody who still asks, and in the end those who no longer do", async () => {
  const lookedUp: string[] = [];
  const told: number[] = [];
  const few = callers({
    store: {
      keyByHash: (hash) => {
        lookedUp.push(hash);
        return store.reads.keyByHash(hash);
      },
    },
    introduce: () => {},
    keyWasUsed: (keyId) => void told.push(keyId),
    keysInAGeneration: 3,
  });
  const ask = async (key: string) =>
    expect(await few.identify(asked({ "x-api-key": key }), NOW)).not.toBeInstanceOf(Failure);
  const { key: steady, id: steadyId } = await aKey();
  const gone = (await aKey()).key;
  for (const key of [steady, gone]) await ask(key);
  for (let each = 0; each < 10; each++) {
    await ask((await aKey()).key);
    await ask(steady);
  }
  expect(lookedUp.filter((hash) => hash === hashOf(steady))).toHaveLength(1);
  // Its last use goes along: it is told once a minute all the same.
  expect(told.filter((id) => id === steadyId)).toHaveLength(1);
  await ask(gone);
  expect(lookedUp.filter((hash) => hash === hashOf(gone))).toHaveLength(2);
});

const mistakes: readonly [what: string, change: (key: string) => string][] = [
  ["another last character", (key) => key.slice(0, -1) + (key.endsWith("0") ? "1" : "0")],
  [
    "two characters changed about",
    (key) => key.slice(0, 20) + key.charAt(21) + key.charAt(20) + key.slice(22),
  ],
  ["a character too few", (key) => key.slice(0, -1)],
  ["a character too many", (key) => `${key}0`],
  ["another prefix", (key) => key.replace("ps_live_", "ps_test_")],
  ["lower case", (key) => key.toLowerCase()],
  ["quotes around it", (key) => `"${key}"`],
  ["nothing but text", () => "secret"],
];

for (const [what, change] of mistakes) {
  test(`a key with ${what} is refused without a look-up`, async () => {
    // The two that are changed about must differ for it to be a mistake.
    let { key } = await aKey();
    while (change(key) === key) ({ key } = await aKey());
    for (const headers of [{ "x-api-key": change(key) }, { authorization: `Bearer ${change(key)}` }])
      expect(await outcome(asked(headers))).toBe("invalid_api_key");
    expect(lookUps).toEqual([]);
  });
}

test("no key, a key in the URL, two keys and another scheme are refused without a look-up", async () => {
  const [{ key }, other] = [await aKey(), await aKey()];
  const requests: [Asked, string][] = [
    [asked({}), "missing_api_key"],
    [asked({ "x-api-key": key }, `http://petstore/pets?key=${key}`), "invalid_api_key"],
    [asked({ "x-api-key": key, authorization: `Bearer ${other.key}` }), "invalid_api_key"],
    [asked({ "x-api-key": `${key}, ${key}` }), "invalid_api_key"],
    [asked({ authorization: `Basic ${key}` }), "invalid_api_key"],
  ];
  for (const [request, code] of requests) expect(await outcome(request)).toBe(code);
  expect(lookUps).toEqual([]);
  expect(introduced).toEqual([]);
});

test("a change of access is seen once everything is forgotten, and not before", async () => {
  const { key, id } = await aKey();
  const request = asked({ "x-api-key": key });
  expect(await outcome(request)).toBe("let in");
  await store.transact(async (writes) => writes.revokeKey(id, NOW));
  expect(await outcome(request)).toBe("let in");
  known.forget();
  expect(await outcome(request)).toBe("revoked_api_key");
  expect(lookUps).toHaveLength(2);
});

test("what was read before everything was forgotten is not remembered after it", async () => {
  const { key, id } = await aKey();
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let isFirst = true;
  const slow = callers({
    store: {
      keyByHash: async (hash) => {
        const found = await store.reads.keyByHash(hash);
        if (isFirst) {
          isFirst = false;
          started.resolve();
          await released.promise;
        }
        return found;
      },
    },
    introduce: () => {},
    keyWasUsed: () => {},
  });
  const underWay = slow.identify(asked({ "x-api-key": key }), NOW);
  await started.promise;
  await store.transact(async (writes) => writes.revokeKey(id, NOW));
  slow.forget();
  released.resolve();
  await underWay;
  const next = await slow.identify(asked({ "x-api-key": key }), NOW);
  expect(next).toMatchObject({ code: "revoked_api_key" });
});

test("a remembered key ends with the millisecond of its expiry", async () => {
  const { key } = await aKey({ expiresAt: NOW + 1000 });
  const request = asked({ "x-api-key": key });
  expect(await outcome(request, NOW + 999)).toBe("let in");
  expect(await outcome(request, NOW + 1000)).toBe("expired_api_key");
});

test("the last use of a key is noted once a minute", async () => {
  const { key, id } = await aKey();
  for (const after of [0, 1, 59_999, 60_000, 60_001, 119_999, 120_000])
    await known.identify(asked({ "x-api-key": key }), NOW + after);
  expect(used).toEqual([
    [id, NOW],
    [id, NOW + 60_000],
    [id, NOW + 120_000],
  ]);
});

test("a key that is refused is looked up once, until something about keys changes", async () => {
  const key = keyFrom(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
  const request = asked({ "x-api-key": key });
  for (let each = 0; each < 5; each++) expect(await outcome(request)).toBe("invalid_api_key");
  expect(lookUps).toEqual([hashOf(key)]);
  expect(introduced).toEqual([]);
  known.forget();
  expect(await outcome(request)).toBe("invalid_api_key");
  expect(lookUps).toHaveLength(2);
});

test("a burst of one key is one look-up", async () => {
  const { key, id } = await aKey();
  const burst = Array.from({ length: 20 }, () => known.identify(asked({ "x-api-key": key }), NOW));
  for (const caller of await Promise.all(burst)) expect(caller).toMatchObject({ keyId: id });
  expect(lookUps).toHaveLength(1);
});

test("an overloaded server looks no key up, and knows those that it remembers", async () => {
  const { key, id } = await aKey();
  const request = asked({ "x-api-key": key });
  expect(known.identify(request, NOW, true)).toMatchObject({ code: "overloaded" });
  expect(lookUps).toEqual([]);
  await known.identify(request, NOW);
  expect(known.identify(request, NOW, true)).toMatchObject({ keyId: id });
});
