// What is done to PostgreSQL while orders come in, and what its users may notice of it.
import { eventually } from "../cli/command.ts";
import { answers, type Outcome, orders, together, unless } from "./judge.ts";
import { buying, type Load } from "./load.ts";
import type { Length, Scenario } from "./scenarios.ts";
import { isReady, type World } from "./world.ts";

/** All is well again so soon after PostgreSQL is back. */
const RECOVERED_WITHIN_MS = 3000;
/** How long the load runs before and after. */
const CALM_MS = 1500;
/** Somebody else's commits: so often, and slow from here on. */
const COMMIT_EVERY_MS = 100;
const SLOW_COMMIT_MS = 200;
/** Backends are ended so often, one to three at a time. */
const TERMINATE_EVERY_MS = 150;

export const postgresFaults: readonly Scenario[] = [
  {
    name: "PostgreSQL shut down and started again",
    shortMs: 1500,
    longMs: 10_000,
    run: (world, length) => survived(world, length, stopped("fast")),
  },
  {
    name: "PostgreSQL crashed and started again",
    shortMs: 1500,
    longMs: 10_000,
    run: (world, length) => survived(world, length, stopped("immediate")),
  },
  {
    name: "PostgreSQL stalled, its connections open",
    shortMs: 4000,
    longMs: 10_000,
    run: (world, length) => survived(world, length, stalled),
  },
  {
    name: "random connections of PostgreSQL terminated",
    shortMs: 3000,
    longMs: 30_000,
    run: (world, length) => survived(world, length, terminated),
  },
];

type Fault = (world: World, length: Length) => Promise<void>;

async function survived(world: World, length: Length, fault: Fault): Promise<Outcome> {
  const load = await buying(world, world.urls);
  await Bun.sleep(CALM_MS);
  await fault(world, length);
  const recovered = await recovery(world, load);
  await Bun.sleep(CALM_MS);
  await load.stop();
  return together(answers(world, load, [200, 201, 409, 503]), recovered, await orders(world, load));
}

/** Every instance is ready and places an order; what PostgreSQL itself took too long for is not held against them. */
async function recovery(world: World, load: Load): Promise<Outcome> {
  const since = performance.now();
  const control = commitsBeside(world);
  const times = await Promise.all(
    world.urls.map(async (url) => {
      await eventually(() => isReady(url), 2 * RECOVERED_WITHIN_MS);
      const ready = performance.now() - since;
      await load.placeAt(url, 2 * RECOVERED_WITHIN_MS);
      return { ready, well: performance.now() - since };
    }),
  );
  const slowest = Math.max(...times.map(({ well }) => well));
  const slowCommits = await control.stop();
  const stoodStill = world.heartbeat.missedWithDiskMs(since, since + slowest);
  const may = RECOVERED_WITHIN_MS + Math.max(stoodStill, slowCommits);
  return {
    figures: {
      "ready again after, ms": Math.round(Math.max(...times.map(({ ready }) => ready))),
      "well again after, ms": Math.round(slowest),
      "slow commits of somebody else meanwhile, ms": Math.round(slowCommits),
      "the machine stood still meanwhile, ms": Math.round(stoodStill),
    },
    problems: unless(slowest <= may, `an instance was well again only after ${Math.round(slowest)} ms`),
  };
}

/** Somebody else who connects and commits one record over and over; how long those took that were slow. */
function commitsBeside({ rows }: World): { stop(): Promise<number> } {
  let isOver = false;
  let slowMs = 0;
  const committing = async () => {
    while (!isOver) {
      const from = performance.now();
      await rows("select pg_logical_emit_message(true, 'beat', '')");
      const took = performance.now() - from;
      if (took > SLOW_COMMIT_MS) slowMs += took;
      await Bun.sleep(COMMIT_EVERY_MS);
    }
  };
  const done = committing();
  return {
    async stop() {
      isOver = true;
      await done;
      return slowMs;
    },
  };
}

function stopped(mode: "fast" | "immediate"): Fault {
  return async ({ postgres }, { ms }) => {
    await postgres.stop(mode);
    await Bun.sleep(ms);
    await postgres.start();
  };
}

const stalled: Fault = async ({ postgres }, { ms }) => {
  postgres.stall();
  await Bun.sleep(ms);
  postgres.resume();
};

const terminated: Fault = async ({ rows }, { ms, random }) => {
  for (const until = performance.now() + ms; performance.now() < until; ) {
    const all = await rows(
      "select pid from pg_stat_activity where application_name = 'petstore' and datname = current_database() order by pid",
    );
    const some = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
      Number(all[Math.floor(random() * all.length)]?.pid ?? 0),
    );
    await rows(
      `select pg_terminate_backend(pid) from unnest(array[${some.join(", ")}]) as pid where pid > 0`,
    );
    await Bun.sleep(TERMINATE_EVERY_MS);
  }
};
