import type { Bench, Scenario } from "../bench.ts";
import { type Contender, contenders, everyone, petstore, startContender } from "../contenders.ts";
import { type Figure, figureOf, median, OURS, type Table } from "../figures.ts";
import { PETS } from "../fill.ts";
import { mixed } from "../requests.ts";
import type { Memory } from "../servers.ts";
import { load } from "../wrk.ts";

const STARTS_A_ROUND = 2;
/** A heap goes on growing long after the code is warm. */
const SETTLING_SECONDS = 20;

/** A server as a process: how soon it is there, and what it holds. */
export const processScenarios: readonly Scenario[] = [
  {
    name: "start",
    about: "cold start to the first 200, and what ours spends it on",
    run: async (bench) => [await starts(bench), await parts(bench)],
  },
  {
    name: "memory",
    about: "memory at rest and under a mixed load",
    run: memory,
  },
];

async function starts(bench: Bench): Promise<Table> {
  const times = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  const store = bench.freshStore("start");
  for (let n = 0; n < bench.options.pace.rounds * STARTS_A_ROUND; n++) {
    for (const contender of contenders) {
      const started = performance.now();
      const { url, stop } = await startContender(bench.servers, contender, store.path);
      await firstAnswer(url, store.key);
      times.get(contender.name)?.push(performance.now() - started);
      await stop();
    }
  }
  const figures = Array.from(times, ([who, values]) => figureOf(who, values));
  const title = "Cold start to the first 200";
  return { name: "start", title, unit: "ms", wantsMore: false, against: OURS, figures };
}

/** Ours, started by a script that notes the time between its steps. */
async function parts(bench: Bench): Promise<Table> {
  const store = bench.freshStore("start-parts");
  const script: Contender = { ...petstore, command: [process.execPath, "--no-install", "bench/steps.ts"] };
  const seen = new Map<string, number[]>();
  for (let n = 0; n < bench.options.pace.rounds * STARTS_A_ROUND; n++) {
    const steps = `${bench.folder}/steps.json`;
    const began = performance.timeOrigin + performance.now();
    const env = { ...script.env, STEPS: steps };
    const { url, stop } = await startContender(bench.servers, { ...script, env }, store.path);
    await firstAnswer(url, store.key);
    const ended = performance.timeOrigin + performance.now();
    await stop();
    let last = began;
    const all: [string, number][] = [
      ...((await Bun.file(steps).json()) as [string, number][]),
      ["first answer", ended],
    ];
    for (const [step, at] of all) {
      seen.set(step, [...(seen.get(step) ?? []), at - last]);
      last = at;
    }
  }
  const figures = Array.from(seen, ([who, values]) => figureOf(who, values));
  const title = "Cold start of ours from source, in parts";
  const note = "The executable has bytecode of the same modules, so that its imports take less.";
  return { name: "start-parts", title, unit: "ms", wantsMore: false, against: "", figures, note };
}

async function firstAnswer(url: string, key: string): Promise<void> {
  const { status } = await fetch(`${url}/store/pets/1`, { headers: { "x-api-key": key } });
  if (status !== 200) throw new Error(`The first answer of ${url} was ${status}.`);
}

async function memory(bench: Bench): Promise<Table[]> {
  const idle: Figure[] = [];
  const first: Figure[] = [];
  const settled: Figure[] = [];
  const { pace, isQuick } = bench.options;
  const { rounds, seconds, connections, warmUpSeconds } = pace;
  const settling = isQuick ? warmUpSeconds : SETTLING_SECONDS;
  for (const contender of everyone) {
    const store = bench.freshStore(contender.name);
    const server = await startContender(bench.servers, contender, store.path);
    await firstAnswer(server.url, store.key);
    const weigh = (seen: Memory[]) => weighed(contender.name, seen);
    idle.push(weigh([server.memory()]));
    const script = mixed(store.key, PETS);
    const loaded = (time: number) =>
      load({ folder: bench.folder, url: server.url, script, connections, seconds: time });
    const inRounds = async () => {
      const seen: Memory[] = [];
      for (let round = 0; round < rounds; round++) {
        await loaded(seconds);
        seen.push(server.memory());
      }
      return seen;
    };
    first.push(weigh(await inRounds()));
    await loaded(settling);
    settled.push(weigh(await inRounds()));
    await server.stop();
  }
  const note =
    "Resident (VmRSS), and of it the process's own (RssAnon): the rest are pages of the binary and of the database's file, which the system can take back.";
  const shape = { unit: "MiB", wantsMore: false, against: OURS, note } as const;
  const under = "Resident memory under a mixed load";
  return [
    { name: "memory-idle", title: "Resident memory after the first answer", figures: idle, ...shape },
    {
      name: "memory-first",
      title: `${under}, the first ${rounds * seconds} seconds`,
      figures: first,
      ...shape,
    },
    { name: "memory", title: `${under}, after ${settling} seconds more`, figures: settled, ...shape },
  ];
}

function weighed(who: string, seen: readonly Memory[]): Figure {
  const resident = figureOf(
    who,
    seen.map((memory) => memory.resident),
  );
  return { ...resident, ownMebibytes: median(seen.map((memory) => memory.own)) };
}
