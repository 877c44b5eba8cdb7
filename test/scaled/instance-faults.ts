// Instances that are restarted and killed behind nginx, and what its callers may notice: of a restart nothing.
import { answers, type Outcome, orders, together, unless } from "./judge.ts";
import { buying } from "./load.ts";
import type { Length, Scenario } from "./scenarios.ts";
import type { Instance, World } from "./world.ts";

const CALM_MS = 1000;
/** The pause between two kills: long enough that an instance is there again. */
const LEAST_PAUSE_MS = 1000;
const MOST_PAUSE_MS = 3000;

export const instanceFaults: readonly Scenario[] = [
  {
    name: "a rolling restart behind nginx, noticed by nobody",
    shortMs: 1,
    longMs: 60_000,
    run: rolled,
  },
  {
    name: "instances killed behind nginx, one after another by chance",
    shortMs: 1,
    longMs: 60_000,
    run: killed,
  },
];

async function rolled(world: World, { ms }: Length): Promise<Outcome> {
  const load = await buying(world, [world.nginx.url]);
  await Bun.sleep(CALM_MS);
  const codes: number[] = [];
  for (const until = performance.now() + ms; performance.now() < until; )
    for (const instance of world.instances) codes.push(await instance.restart());
  await Bun.sleep(CALM_MS);
  await load.stop();
  return together(
    {
      figures: { restarts: codes.length },
      problems: unless(
        codes.every((code) => code === 0),
        `exit codes: ${codes}`,
      ),
    },
    answers(world, load, [200, 201]),
    await orders(world, load),
  );
}

async function killed(world: World, { ms, random }: Length): Promise<Outcome> {
  const load = await buying(world, [world.nginx.url]);
  await Bun.sleep(CALM_MS);
  let kills = 0;
  for (const until = performance.now() + ms; performance.now() < until; kills++) {
    await (world.instances[Math.floor(random() * world.instances.length)] as Instance).crash();
    await Bun.sleep(LEAST_PAUSE_MS + random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS));
  }
  await load.stop();
  return together(
    { figures: { kills }, problems: [] },
    answers(world, load, [200, 201, 409, 503]),
    await orders(world, load),
  );
}
