// A key that is struck, then banned while Valkey is away: its strikes have had their ban, before and after.
import { expect, test } from "bun:test";
import { eventually } from "../cli/command.ts";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { aValkey, type ValkeyServer } from "../servers/valkey.ts";
import { ask, askTimes, limitsOf, MINUTE, oneAMinute, spendMinute } from "./spending.ts";

const NOTICED_WITHIN_MS = 2000;

interface Struck extends AsyncDisposable {
  readonly server: ValkeyServer;
  readonly store: TestStore;
  readonly person: Person;
}

/** A key with ten strikes that Valkey knows, and then as many more as are asked for while it stalls. */
async function struckMeanwhile(more: number): Promise<Struck> {
  const server = await aValkey();
  const store = await aStore({ VALKEY_URL: server.url, VALKEY_PREFIX: "", LOG_LEVEL: "warn" });
  const person = await oneAMinute(store);
  await spendMinute(store, person);
  expect(await askTimes(person, 10)).toEqual({ 429: 10 });
  server.stall();
  expect(await askTimes(person, more)).toEqual({ 429: more });
  expect(store.logged()).toContain("Valkey cannot be reached");
  const end = async () => {
    server.goOn();
    await store.stop();
    await server[Symbol.asyncDispose]();
  };
  return { server, store, person, [Symbol.asyncDispose]: end };
}

async function goOn({ server, store }: Struck): Promise<void> {
  server.goOn();
  expect(await eventually(() => store.logged().includes("Valkey is back"), NOTICED_WITHIN_MS)).toBe(true);
}

const banned = { banLevel: 1, strikes: { count: 0 } };

test("a ban that was earned while Valkey was away clears the strikes that it knew of", async () => {
  await using struck = await struckMeanwhile(10);
  await goOn(struck);
  expect((await ask(struck.person)).status).toBe(403);
  expect(await limitsOf(struck.person)).toMatchObject(banned);
});

test("a ban that was earned while Valkey was away holds when it is back, before the database has it", async () => {
  await using struck = await struckMeanwhile(9);
  const { store, person } = struck;
  await store.beside.db.holdUp();
  expect(await askTimes(person, 1)).toEqual({ 429: 1 });
  await goOn(struck);
  expect(await askTimes(person, 2)).toEqual({ 403: 2 });
  expect(await limitsOf(person)).toMatchObject(banned);
  await store.beside.db.letGo();
});

test("a ban that was earned and lifted while Valkey was away does not come back with it", async () => {
  await using struck = await struckMeanwhile(10);
  const { store, person } = struck;
  const lift = async () => (await store.admin.delete(`/admin/keys/${person.keyId}/ban`)).status === 204;
  expect(await eventually(lift, NOTICED_WITHIN_MS)).toBe(true);
  await goOn(struck);
  expect((await limitsOf(person)).bannedUntil).toBeUndefined();
  store.clock.now += MINUTE;
  expect((await ask(person)).status).toBe(200);
});

test("a server that is stopped while Valkey is away forgets neither a ban nor its level", async () => {
  await using struck = await struckMeanwhile(10);
  await struck.store.restart();
  await goOn(struck);
  expect((await ask(struck.person)).status).toBe(403);
  expect(await limitsOf(struck.person)).toMatchObject(banned);
});

test("a server that is stopped while Valkey is away forgets no strike", async () => {
  await using struck = await struckMeanwhile(9);
  await struck.store.restart();
  await goOn(struck);
  expect((await limitsOf(struck.person)).strikes.count).toBe(19);
  expect(await askTimes(struck.person, 2)).toEqual({ 429: 1, 403: 1 });
});
