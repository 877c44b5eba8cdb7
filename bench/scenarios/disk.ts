import type { Scenario } from "../bench.ts";
import { petstore, startContender } from "../contenders.ts";
import { type Figure, figureOf, median } from "../figures.ts";
import { PETS } from "../fill.ts";
import { orders, petsById } from "../requests.ts";
import { resident } from "../resident.ts";
import { requireExpected } from "../rounds.ts";
import type { Calm } from "../undisturbed.ts";
import { load, type Measured } from "../wrk.ts";

const SYNC_MICROSECONDS = 5000;
const READING = 16;
const WRITING = 32;
/** One second's p99 is up to five times the next one's: their median needs more of them than a rate's. */
const ROUNDS_FOR_ONE = 3;
/** As long as the runtime's compilers are at work they share the core, and a p99 is theirs. */
const WARM_UPS_FOR_ONE = 4;

export const ALONE = "reads alone";
export const BESIDE = "reads beside orders";

/** Every sync takes as long as on a slow disk. */
const slowly = [
  ..."strace -D -f --seccomp-bpf -qq -o /dev/null -e trace=fsync,fdatasync -e".split(" "),
  `inject=fsync,fdatasync:delay_exit=${SYNC_MICROSECONDS}`,
];

export const diskScenarios: readonly Scenario[] = [
  {
    name: "slow-disk",
    about: "p99 of GET by id with and without orders beside it, every sync taking 5 ms",
    async run(bench) {
      const { folder, options } = bench;
      const { seconds } = options.pace;
      const warmUpSeconds = options.pace.warmUpSeconds * WARM_UPS_FOR_ONE;
      const rounds = options.pace.rounds * ROUNDS_FOR_ONE;
      const store = bench.freshStore("slow-disk");
      const { url, stop } = await startContender(bench.servers, petstore, store.path, slowly);
      const read = (time: number) =>
        load({ folder, url, script: petsById(store.key, PETS), connections: READING, seconds: time });
      const write = (time: number) =>
        load({ folder, url, script: orders(store.key, PETS), connections: WRITING, seconds: time });
      using _ = resident(store.path);
      await Promise.all([read(warmUpSeconds), write(warmUpSeconds)]);

      const alone: Calm<Measured>[] = [];
      const beside: Calm<Measured>[] = [];
      const written: number[] = [];
      const measuredCalmly = bench.undisturbed();
      for (let round = 0; round < rounds; round++) {
        const one = await measuredCalmly(() => read(seconds));
        const both = await measuredCalmly(() => Promise.all([read(seconds), write(seconds)]));
        const [reads, writes] = both.measured;
        requireExpected({ who: ALONE }, one.measured);
        requireExpected({ who: BESIDE }, reads);
        requireExpected({ who: "orders" }, writes);
        alone.push(one);
        beside.push({ ...both, measured: reads });
        written.push(writes.requestsPerSecond);
      }
      await stop();
      const figures: Figure[] = [p99Of(ALONE, alone), p99Of(BESIDE, beside)];
      const note = `${rounds} rounds; ${READING} connections read, ${WRITING} order; ${Math.round(figureOf("", written).middle)} orders/s meanwhile. Beside orders a second wrk shares the load's core, alone there is none.`;
      const title = "p99 of GET by id, every sync taking 5 ms";
      return [{ name: "slow-disk", title, unit: "ms", wantsMore: false, against: ALONE, figures, note }];
    },
  },
];

function p99Of(who: string, rounds: readonly Calm<Measured>[]): Figure {
  const figure = figureOf(
    who,
    rounds.map(({ measured }) => measured.p99Milliseconds),
  );
  return {
    ...figure,
    slowedShare: median(rounds.map(({ slowed }) => slowed)),
    repeatedRounds: rounds.filter(({ isRepeated }) => isRepeated).length,
  };
}
