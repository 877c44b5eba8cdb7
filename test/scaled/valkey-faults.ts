// Limits that three instances share in Valkey: exact while it is there, held by each instance for itself while it is not.
import { plans } from "../../src/contract/plans.ts";
import { eventually } from "../cli/command.ts";
import { type Outcome, together, unless } from "./judge.ts";
import { type Polling, polling } from "./polling.ts";
import type { Length, Scenario } from "./scenarios.ts";
import { asked, type NewKey, type World } from "./world.ts";

const { perMinute: PLAN } = plans.free;
const CONNECTIONS = 50;
const EACH = 4;
const TRIES = 5;
/** Of the minute, before Valkey goes. */
const SPENT_BEFORE = 30;
const EXACT_WITHIN_MS = 2000;
/** What a request that is under way when Valkey falls silent may lose, and what a busy machine adds to any request. */
const SLOWER_AT_MOST_MS = 100;
const BUSY_MS = 100;
const CALM_MS = 1000;
/** By then every instance has noticed that Valkey is silent. */
const NOTICED_MS = 200;
/** How often the limited key is tried at every instance while Valkey is away. */
const BETWEEN_TRIES_MS = 2000;

export const valkeyFaults: readonly Scenario[] = [
  {
    name: "a burst over fifty connections is admitted as often as the plan says, through nginx too",
    shortMs: 1,
    longMs: 30_000,
    async run(world, { ms }) {
      const bursts: Burst[] = [];
      for (const until = performance.now() + ms; performance.now() < until; )
        bursts.push(await burst(world, world.urls), await burst(world, [world.nginx.url]));
      return {
        figures: { bursts: bursts.length, "of them again, because the machine was busy": repeats(bursts) },
        problems: bursts.flatMap(({ problems }) => problems),
      };
    },
  },
  {
    name: "Valkey killed and started again",
    shortMs: 5000,
    longMs: 60_000,
    run: (world, length) =>
      outage(world, length, { begin: () => world.valkey.kill(), end: () => world.valkey.restart() }),
  },
  {
    name: "Valkey stalled, its connections open",
    shortMs: 3000,
    longMs: 60_000,
    run: (world, length) =>
      outage(world, length, { begin: () => world.valkey.stall(), end: () => world.valkey.goOn() }),
  },
];

interface Fault {
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}

interface Burst {
  /** Which try this was. */
  readonly time: number;
  readonly problems: readonly string[];
}

function repeats(bursts: readonly Burst[]): number {
  return bursts.reduce((sum, { time }) => sum + time - 1, 0);
}

/** One new key, many at once: exactly the plan, unless the machine was so busy that Valkey seemed away; then once more. */
async function burst(world: World, urls: readonly string[]): Promise<Burst> {
  for (let time = 1; ; time++) {
    const before = timesAway(world);
    const { key } = await world.newKey();
    const lanes = Array.from({ length: CONNECTIONS }, async (_, lane) => {
      const statuses: number[] = [];
      for (let n = 0; n < EACH; n++) {
        const response = await asked(`${urls[(lane + n) % urls.length]}/pets?limit=1`, key);
        await response.arrayBuffer();
        statuses.push(response.status);
      }
      return statuses;
    });
    const statuses = (await Promise.all(lanes)).flat();
    if (timesAway(world) > before && time < TRIES) continue;
    const admitted = statuses.filter((status) => status === 200).length;
    const refused = statuses.filter((status) => status === 429).length;
    return {
      time,
      problems: unless(
        admitted === PLAN && refused === CONNECTIONS * EACH - PLAN,
        `of ${statuses.length} requests ${admitted} were admitted and ${refused} refused, at ${urls}`,
      ),
    };
  }
}

async function outage(world: World, { ms }: Length, fault: Fault): Promise<Outcome> {
  const limited = await world.newKey();
  await using others = polling(world, world.staff);
  const awayBefore = timesAway(world);
  const seen = await spent(world, limited);
  await Bun.sleep(CALM_MS);
  // On a machine so busy that Valkey seemed away by itself, an instance may have seen less than it was told.
  const hasSeen = timesAway(world) === awayBefore;

  const began = performance.now();
  await fault.begin();
  const isNoticed = await eventually(() => world.instances.every(isAway), EXACT_WITHIN_MS);
  const windows = await admittedMeanwhile(world, limited, began + ms);
  await fault.end();
  const ended = performance.now();
  const isBack = await eventually(() => !world.instances.some(isAway), 2 * EXACT_WITHIN_MS);
  const back = performance.now() - ended;
  const may = EXACT_WITHIN_MS + world.heartbeat.missedMs(ended, ended + back);
  const exact = await burst(world, world.urls);
  await Bun.sleep(CALM_MS);
  await others.stop();

  // In the minute in which it went, an instance goes on from the count that it saw last; in a later one from none.
  const tooMany = windows.filter(({ instance, isFirst, admitted }) =>
    isFirst && hasSeen ? admitted !== PLAN - (seen[instance] ?? 0) : admitted > PLAN,
  );
  const all = windows.reduce((sum, { admitted }) => sum + admitted, 0);
  return together(calm(world, others, began, ended), {
    figures: {
      "admitted before": SPENT_BEFORE,
      "admitted meanwhile": all,
      "windows of an instance meanwhile": windows.length,
      "shared again after, ms": Math.round(back),
    },
    problems: [
      ...exact.problems,
      ...unless(isNoticed, "an instance did not notice that Valkey was away"),
      ...unless(isBack && back <= may, `limits were shared again only after ${Math.round(back)} ms`),
      ...tooMany.map(
        ({ instance, admitted }) =>
          `instance ${instance}, which had seen ${seen[instance]} of ${PLAN}, admitted ${admitted}`,
      ),
    ],
  });
}

/** Spends half of a key's minute at one instance after another; the last count that each of them saw. */
async function spent({ urls }: World, { key }: NewKey): Promise<number[]> {
  const seen: number[] = [];
  for (let n = 1; n <= SPENT_BEFORE; n++) {
    const at = n % urls.length;
    const response = await asked(`${urls[at]}/account`, key);
    await response.arrayBuffer();
    seen[at] = PLAN - Number(response.headers.get("x-ratelimit-remaining"));
  }
  return seen;
}

interface Window {
  readonly instance: number;
  /** Whether it had been opened before Valkey went away. */
  readonly isFirst: boolean;
  admitted: number;
}

/** Asks at every instance for more than the plan, again and again until a moment; how often each window let it. */
async function admittedMeanwhile({ urls }: World, { key }: NewKey, until: number): Promise<Window[]> {
  const windows = new Map<string, Window>();
  do {
    await Promise.all(
      urls.map(async (url, instance) => {
        for (let n = 0; n < PLAN + 10; n++) {
          const response = await asked(`${url}/account`, key);
          await response.arrayBuffer();
          const isFirst = ![...windows.values()].some((window) => window.instance === instance);
          const name = `${instance} ${response.headers.get("x-ratelimit-reset")}`;
          const window = windows.get(name) ?? { instance, isFirst, admitted: 0 };
          windows.set(name, window);
          if (response.status === 200) window.admitted += 1;
        }
      }),
    );
    await Bun.sleep(Math.max(0, Math.min(BETWEEN_TRIES_MS, until - performance.now())));
  } while (performance.now() < until);
  return [...windows.values()];
}

/** Nobody else was refused; those who were under way waited once. */
function calm(world: World, { requests }: Polling, began: number, ended: number): Outcome {
  const strange = requests.filter(({ status }) => status !== 200);
  const underWay = requests.filter((each) => each.began < began + NOTICED_MS && each.began + each.ms > began);
  const before = requests.filter((each) => each.began + each.ms < began).map(({ ms }) => ms);
  const meanwhile = requests.filter((each) => each.began > began && each.began < ended).map(({ ms }) => ms);
  const usual = ninetieth(before);
  const slow = underWay.filter(
    (each) =>
      each.ms >
      usual + SLOWER_AT_MOST_MS + BUSY_MS + world.heartbeat.missedMs(each.began, each.began + each.ms),
  );
  return {
    figures: {
      "requests of others": requests.length,
      "under way when it went": underWay.length,
      "slowest of those, ms": Math.round(Math.max(0, ...underWay.map(({ ms }) => ms))),
      "90 % within, before, ms": Math.round(usual),
      "90 % within, meanwhile, ms": Math.round(ninetieth(meanwhile)),
    },
    problems: [
      ...unless(strange.length === 0, `others met ${[...new Set(strange.map(({ status }) => status))]}`),
      ...unless(slow.length === 0, `requests under way took ${slow.map(({ ms }) => Math.round(ms))} ms`),
      ...unless(underWay.length > 0 && meanwhile.length > 0, "nobody asked while it was away"),
    ],
  };
}

function ninetieth(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.9)] ?? 0;
}

function timesAway({ instances }: World): number {
  return instances.reduce((sum, each) => sum + count(each.logged(), "Valkey cannot be reached"), 0);
}

function isAway(instance: { logged(): string }): boolean {
  const text = instance.logged();
  return count(text, "Valkey cannot be reached") > count(text, "Valkey is back");
}

function count(text: string, words: string): number {
  return text.split(words).length - 1;
}
