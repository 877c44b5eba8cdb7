import { afterAll, beforeAll, expect, test } from "bun:test";
import { chance, scenarios } from "./scenarios.ts";
import { aWorld, type World } from "./world.ts";

const SEED = 20_261_115;

let world: World;
beforeAll(async () => {
  world = await aWorld();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

test.each(scenarios.map((each) => [each.name, each] as const))(
  "three instances survive: %s",
  async (_, { run, shortMs }) => {
    const { problems } = await run(world, { ms: shortMs, random: chance(SEED) });
    expect(problems).toEqual([]);
  },
  60_000,
);
