import { expect, test } from "bun:test";
import { join } from "node:path";
import got from "got";
import ky from "ky";
import OpenAI from "openai";
import { eventually } from "../cli/command.ts";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { ask, askTimes, DAY, letRun, limitsOf, SECOND, tally, todayLasts } from "./spending.ts";

// What programs in the wild do when this API limits them, with the settings that they come with.

interface Call {
  readonly url: string;
  readonly key: string;
  readonly method: "GET" | "POST";
  readonly times: number;
  readonly signal: AbortSignal;
  /** Settings of the client's own, over those that it comes with. */
  readonly settings?: Record<string, unknown>;
}

/** Makes so many calls at once; what each ended with: a status, or the message of another error. */
type Client = (call: Call) => Promise<(number | string)[]>;

const PATHS = { GET: "/pets", POST: "/store/orders" } as const;
const BODY = {};

const clients = {
  got: each(async ({ url, key, method, signal, settings }) => {
    const options = { method, headers: { "x-api-key": key }, signal, retry: { ...settings } };
    const { statusCode } = await got(
      url + PATHS[method],
      method === "POST" ? { ...options, json: BODY } : options,
    );
    return statusCode;
  }),
  ky: each(async ({ url, key, method, signal, settings }) => {
    const options = { method, headers: { "x-api-key": key }, signal, retry: { ...settings } };
    const { status } = await ky(
      url + PATHS[method],
      method === "POST" ? { ...options, json: BODY } : options,
    );
    return status;
  }),
  openai: each(async ({ url, key, method, signal, settings }) => {
    const client = new OpenAI({ apiKey: key, baseURL: url, ...settings });
    const sent =
      method === "POST" ? client.post(PATHS.POST, { body: BODY, signal }) : client.get(PATHS.GET, { signal });
    return (await sent.asResponse()).status;
  }),
  undici: async ({ signal, settings = {}, ...call }) => {
    const { method } = call;
    const body = method === "POST" ? JSON.stringify(BODY) : undefined;
    const given = JSON.stringify({ ...call, path: PATHS[method], body, settings });
    const child = Bun.spawn(["node", join(import.meta.dir, "undici-client.mjs"), given], {
      stdio: ["ignore", "pipe", "inherit"],
      signal,
    });
    const text = await new Response(child.stdout).text();
    return text === "" ? ["stopped"] : JSON.parse(text);
  },
} as const satisfies Record<string, Client>;

type Name = keyof typeof clients;
const names = Object.keys(clients) as Name[];

function each(one: (call: Call) => Promise<number>): Client {
  const outcome = async (call: Call) => {
    try {
      return await one(call);
    } catch (error) {
      const { response, status, message } = error as {
        response?: { statusCode?: number; status?: number };
        status?: number;
        message: string;
      };
      return response?.statusCode ?? response?.status ?? status ?? message;
    }
  };
  return (call) => Promise.all(Array.from({ length: call.times }, () => outcome(call)));
}

interface Limited extends AsyncDisposable {
  readonly store: TestStore;
  readonly person: Person;
  /** What the key's calls were answered since the client began, in the order of their arrival. */
  answers(): number[];
  run(name: Name, call?: Partial<Call>): Promise<(number | string)[]>;
}

/** A key whose window is spent, with about so many seconds of it left. */
async function spent({
  perMinute = 5,
  perDay = 100_000,
  secondsLeft,
}: {
  perMinute?: number;
  perDay?: number;
  secondsLeft: number;
}): Promise<Limited> {
  const store = await aStore();
  const running = letRun(store);
  if (perDay < perMinute) running.ahead = DAY - (Date.now() % DAY) - secondsLeft * SECOND;
  const person = await store.newPerson("customer", { quota: { perMinute, perDay } });
  await askTimes(person, Math.min(perMinute, perDay));
  if (perDay >= perMinute) running.ahead += (60 - secondsLeft) * SECOND;
  const answers = () =>
    store
      .logged()
      .split("\n")
      .filter((line) => line.includes(`"keyId":${person.keyId}`) && !line.includes("/account/limits"))
      .map((line) => JSON.parse(line))
      .filter(({ keyId }) => keyId === person.keyId)
      .map(({ status }) => status as number)
      .slice(Math.min(perMinute, perDay));
  return {
    store,
    person,
    answers,
    run: (name, call) =>
      clients[name]({
        url: store.url,
        key: person.key,
        method: "GET",
        times: 1,
        signal: new AbortController().signal,
        ...call,
      }),
    [Symbol.asyncDispose]: () => store.stop(),
  };
}

/** Lets a client run for so long and stops it; what it had asked for by then. */
async function askedWithin(limited: Limited, name: Name, milliseconds: number, call: Partial<Call> = {}) {
  const stop = new AbortController();
  const outcomes = limited.run(name, { ...call, signal: stop.signal });
  const isDone = await Promise.race([outcomes.then(() => true), Bun.sleep(milliseconds).then(() => false)]);
  const answers = limited.answers();
  stop.abort();
  return { isDone, answers, outcomes: await outcomes };
}

async function strikesOf({ person }: Limited): Promise<number> {
  const { strikes, bannedUntil } = await limitsOf(person);
  return bannedUntil === undefined ? strikes.count : Number.POSITIVE_INFINITY;
}

test.concurrent("after a whole minute by the real clock, whoever waits as long as it is told succeeds at the first try", async () => {
  await todayLasts(90);
  await using store = await aStore();
  letRun(store);
  const freeKey = async () => {
    const { body } = await store.admin.post("/admin/clients", { name: "Shop", plan: "free" });
    const person = await store.newPerson("customer", { clientId: body.id });
    expect(await askTimes(person, 60)).toEqual({ 200: 60 });
    return person;
  };
  const plain = await freeKey();
  const waitAndAsk = async () => {
    const { status, headers } = await ask(plain);
    expect(status).toBe(429);
    await Bun.sleep(Number(headers.get("retry-after")) * SECOND);
    return (await ask(plain)).status;
  };
  const call = async (name: Name) => {
    const person = await freeKey();
    const { signal } = new AbortController();
    const outcomes = await clients[name]({
      url: store.url,
      key: person.key,
      method: "GET",
      times: 3,
      signal,
    });
    return { name, outcomes, strikes: (await limitsOf(person)).strikes.count };
  };
  const [status, ...others] = await Promise.all([waitAndAsk(), ...names.map(call)]);
  expect(status).toBe(200);
  expect((await limitsOf(plain)).strikes.count).toBe(0);
  expect(others).toEqual([
    { name: "got", outcomes: [200, 200, 200], strikes: 0 },
    { name: "ky", outcomes: [200, 200, 200], strikes: 0 },
    { name: "openai", outcomes: [200, 200, 200], strikes: 0 },
    // It waits 30 s at most, so each call asks once too early.
    { name: "undici", outcomes: [200, 200, 200], strikes: 3 },
  ]);
}, 120_000);

test.concurrent("undici with 20 calls waiting at once asks too early for all of them, and is banned", async () => {
  await using limited = await spent({ secondsLeft: 55 });
  const stop = new AbortController();
  const outcomes = limited.run("undici", { times: 20, signal: stop.signal });
  const hasAskedTwice = async () => {
    await Bun.sleep(200);
    return limited.answers().length >= 40;
  };
  expect(await eventually(hasAskedTwice, 45 * SECOND)).toBe(true);
  expect(tally(limited.answers())).toEqual({ 429: 40 });
  expect(await strikesOf(limited)).toBe(Number.POSITIVE_INFINITY);
  stop.abort();
  await outcomes;
}, 60_000);

test.concurrent("undici that may wait longer than a minute gets all of 20 calls through without a strike", async () => {
  await using limited = await spent({ perMinute: 20, secondsLeft: 34 });
  const outcomes = await limited.run("undici", { times: 20, settings: { maxTimeout: 61 * SECOND } });
  expect(tally(outcomes as number[])).toEqual({ 200: 20 });
  expect(tally(limited.answers())).toEqual({ 429: 20, 200: 20 });
  expect(await strikesOf(limited)).toBe(0);
}, 60_000);

for (const name of names) {
  test.concurrent(`${name} gets its reads through a short wait by itself, asking no time too often`, async () => {
    await using limited = await spent({ secondsLeft: 4 });
    const outcomes = await limited.run(name, { times: 5 });
    expect(outcomes).toEqual([200, 200, 200, 200, 200]);
    expect(limited.answers()).toEqual([429, 429, 429, 429, 429, 200, 200, 200, 200, 200]);
    expect(await strikesOf(limited)).toBe(0);
  }, 20_000);
}

test.concurrent("openai gets a write through a short wait by itself", async () => {
  await using limited = await spent({ secondsLeft: 4 });
  expect(await limited.run("openai", { method: "POST" })).toEqual([201]);
  expect(limited.answers()).toEqual([429, 201]);
  expect(await strikesOf(limited)).toBe(0);
}, 20_000);

for (const [name, settings] of [
  ["got", { methods: ["GET", "POST"] }],
  ["ky", { methods: ["get", "post"] }],
  ["undici", { methods: ["GET", "POST"] }],
] as const) {
  test.concurrent(`${name} gives a write up at once, and gets it through when POST is among its methods`, async () => {
    await using asItComes = await spent({ secondsLeft: 30 });
    expect(await asItComes.run(name, { method: "POST" })).toEqual([429]);
    expect(asItComes.answers()).toEqual([429]);
    await using told = await spent({ secondsLeft: 4 });
    expect(await told.run(name, { method: "POST", settings })).toEqual([201]);
    expect(told.answers()).toEqual([429, 201]);
    expect([await strikesOf(asItComes), await strikesOf(told)]).toEqual([0, 0]);
  }, 20_000);
}

test.concurrent("openai gives up at once on the daily quota, because it is told that a retry is useless", async () => {
  await using limited = await spent({ perDay: 3, secondsLeft: 3600 });
  expect(await limited.run("openai", { times: 10 })).toEqual(new Array(10).fill(429));
  expect(limited.answers()).toHaveLength(10);
  expect(await strikesOf(limited)).toBe(0);
});

for (const name of ["got", "ky"] as const) {
  test.concurrent(`${name} waits for the whole rest of the day on the daily quota, without a strike`, async () => {
    await using limited = await spent({ perDay: 3, secondsLeft: 3600 });
    const { isDone, answers } = await askedWithin(limited, name, 4 * SECOND, { times: 3 });
    expect([isDone, answers]).toEqual([false, [429, 429, 429]]);
    expect(await strikesOf(limited)).toBe(0);
  }, 20_000);
}

test.concurrent("got with maxRetryAfter gives up at once on a wait that is longer", async () => {
  await using limited = await spent({ perDay: 3, secondsLeft: 3600 });
  expect(await limited.run("got", { settings: { maxRetryAfter: 60 * SECOND } })).toEqual([429]);
  expect(limited.answers()).toEqual([429]);
});

test.concurrent("ky with maxRetryAfter does not give up but asks too early, so it is better left out", async () => {
  await using limited = await spent({ perDay: 3, secondsLeft: 3600 });
  expect(await limited.run("ky", { settings: { maxRetryAfter: 1.5 * SECOND } })).toEqual([429]);
  expect(limited.answers()).toEqual([429, 429, 429]);
  expect(await strikesOf(limited)).toBeGreaterThan(0);
}, 20_000);

test.concurrent("no client repeats a request that a ban refuses", async () => {
  await using limited = await spent({ secondsLeft: 30 });
  await limited.store.admin.put(`/admin/keys/${limited.person.keyId}/ban`, { minutes: 5 });
  for (const name of names) expect([name, await limited.run(name)]).toEqual([name, [403]]);
  await eventually(() => limited.answers().length >= names.length, SECOND);
  expect(limited.answers()).toEqual([403, 403, 403, 403]);
}, 20_000);
