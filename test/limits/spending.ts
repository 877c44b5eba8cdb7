import { eventually } from "../cli/command.ts";
import type { Person, Reply, TestStore } from "../harness.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const DAY = 24 * 60 * MINUTE;
/** The first moment at which another 429 is a strike, after the first of a window. */
export const PAST_GRACE = 2 * SECOND + 1;
/** The written-behind is written twice a second; two of them are over after this. */
export const TWO_WRITES_MS = 1100;

/** A request that costs one and changes nothing. */
export function ask(person: Person): Promise<Reply> {
  return person.get("/pets?limit=1");
}

/** As many requests, one after another: the statuses and how often each came. */
export async function askTimes(person: Person, times: number): Promise<Record<string, number>> {
  const statuses: number[] = [];
  for (let time = 0; time < times; time++) statuses.push((await ask(person)).status);
  return tally(statuses);
}

export function tally(statuses: readonly number[]): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const status of statuses) counted[status] = (counted[status] ?? 0) + 1;
  return counted;
}

/** A key of one request a minute, or another of the same client. */
export function oneAMinute(store: TestStore, clientId?: number): Promise<Person> {
  const quota = { perMinute: 1, perDay: 1_000_000 };
  return store.newPerson("customer", clientId === undefined ? { quota } : { clientId });
}

/** Spends the minute of a key of one request a minute, gets the first 429, and lets its grace pass. */
export async function spendMinute(store: TestStore, person: Person): Promise<void> {
  const before = (await ask(person)).status;
  const first = before === 429 ? before : (await ask(person)).status;
  if (![200, 429].includes(before) || first !== 429)
    throw new Error(`the minute was not spent: ${before}, ${first}`);
  store.clock.now += PAST_GRACE;
}

/** Gets a key with nothing behind it banned, by the rule as it is by default. */
export async function getBanned(store: TestStore, person: Person): Promise<void> {
  await spendMinute(store, person);
  const statuses = await askTimes(person, 20);
  if (statuses[429] !== 20) throw new Error(`not struck 20 times: ${JSON.stringify(statuses)}`);
}

/** How a key stands. */
export async function limitsOf(person: Person): Promise<Reply["body"]> {
  const { status, body, text } = await person.get("/account/limits");
  if (status !== 200) throw new Error(`/account/limits answered ${status}: ${text}`);
  return body;
}

/** The events of a type, as soon as there are so many, or as they are after two writes. */
export async function eventsOf(store: TestStore, type: string, atLeast: number) {
  const all = async () => (await store.events()).filter((event) => event.type === type);
  await eventually(async () => (await all()).length >= atLeast, 2 * TWO_WRITES_MS);
  return all();
}

/** Lets the store's clock run as the real one does, so much ahead of it. */
export function letRun(store: TestStore, aheadMs = 0): { ahead: number } {
  const running = { ahead: aheadMs };
  Object.defineProperty(store.clock, "now", { get: () => Date.now() + running.ahead });
  return running;
}

/** For tests by the real clock that count a day's requests: waits for tomorrow if today ends too soon. */
export async function todayLasts(seconds: number): Promise<void> {
  const left = DAY - (Date.now() % DAY);
  if (left < seconds * SECOND) await Bun.sleep(left + 50);
}
