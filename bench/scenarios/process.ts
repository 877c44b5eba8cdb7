import { runtimeSettings } from "../../src/cli/runtime-settings.ts";
import type { Bench, Scenario } from "../bench.ts";
import { check } from "../check.ts";
import {
  type Contender,
  contenders,
  everyone,
  fromSource,
  oneFilePeers,
  petstore,
  startContender,
} from "../contenders.ts";
import { type Figure, figureOf, median, OURS, type Table } from "../figures.ts";
import { PETS } from "../fill.ts";
import { compilePeers } from "../one-file.ts";
import { mixed } from "../requests.ts";
import { requireExpected } from "../rounds.ts";
import type { Memory } from "../servers.ts";
import { load } from "../wrk.ts";

const STARTS_A_ROUND = 2;
const PARTS_NOTE = `With the runtime's settings of \`${fromSource.name}\` and in the same rounds, whose time they come to but for the shell, the reading of arguments and the first key. The executable has bytecode of the same modules, so that its imports take less.`;
/** A heap goes on growing long after the code is warm. */
const SETTLING_SECONDS = 20;

/** A server as a process: how soon it is there, and what it holds. */
export const processScenarios: readonly Scenario[] = [
  {
    name: "start",
    about: "cold start to the first 200, and what ours spends it on",
    run: starts,
  },
  {
    name: "memory",
    about: "memory at rest and under a mixed load",
    run: memory,
  },
];

/** All of them in turns, ours with its parts right after ours from source, so that the parts come to about its time. */
async function starts(bench: Bench): Promise<Table[]> {
  await compilePeers();
  for (const peer of oneFilePeers) await checked(bench, peer);
  const { path, key } = bench.freshStore("start");
  const whole = new Map<string, number[]>();
  const parts = new Map<string, number[]>();
  const note = (into: Map<string, number[]>, what: string, milliseconds: number) =>
    into.set(what, [...(into.get(what) ?? []), milliseconds]);
  const begin = async (contender: Contender) => {
    const began = now();
    const { url, stop } = await startContender(bench.servers, contender, path);
    await firstAnswer(url, key);
    return { began, ended: now(), stop };
  };
  const wholeOf = (contender: Contender) => async () => {
    const { began, ended, stop } = await begin(contender);
    note(whole, contender.name, ended - began);
    await stop();
  };
  const partsOfOurs = async () => {
    const file = `${bench.folder}/steps.json`;
    const { began, ended, stop } = await begin(inSteps(file));
    await stop();
    const steps = (await Bun.file(file).json()) as [string, number][];
    let last = began;
    for (const [step, at] of [...steps, ["first answer", ended] as const]) {
      note(parts, step, at - last);
      last = at;
    }
  };
  const turns = [...[...contenders, fromSource].map(wholeOf), partsOfOurs, ...oneFilePeers.map(wholeOf)];
  for (let n = 0; n < bench.options.pace.rounds * STARTS_A_ROUND; n++)
    for (const turn of n % 2 === 0 ? turns : turns.toReversed()) await turn();
  const shape = { unit: "ms", wantsMore: false } as const;
  return [
    {
      name: "start",
      title: "Cold start to the first 200",
      against: OURS,
      figures: figuresOf(whole),
      ...shape,
    },
    {
      name: "start-parts",
      title: "Cold start of ours from source, in parts",
      against: "",
      figures: figuresOf(parts),
      note: PARTS_NOTE,
      ...shape,
    },
  ];
}

function figuresOf(seen: ReadonlyMap<string, readonly number[]>): Figure[] {
  return Array.from(seen, ([who, values]) => figureOf(who, values));
}

/** By the clock of the machine, which the server's process has too. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Ours by a script that notes when each step was done, with the runtime's settings that ours from source has. */
function inSteps(file: string): Contender {
  const command = [process.execPath, "--smol", "--no-install", "bench/steps.ts"];
  return { ...petstore, command, env: { ...petstore.env, ...runtimeSettings, STEPS: file } };
}

/** What a compiler made of a peer answers as the peer does. */
async function checked(bench: Bench, peer: Contender): Promise<void> {
  const store = bench.freshStore(peer.name);
  const server = await startContender(bench.servers, peer, store.path);
  await check(peer, server, store);
  await server.stop();
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
    const loaded = async (time: number) => {
      const seen = await load({ folder: bench.folder, url: server.url, script, connections, seconds: time });
      requireExpected({ who: contender.name }, seen);
    };
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
