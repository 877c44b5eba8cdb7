import { dutiful, dutifulPeers, peers, scaledFastify, scaledPetstore } from "./contenders.ts";
import {
  bothTimes,
  eachTimes,
  type Figure,
  figureOf,
  find,
  OURS,
  shown,
  shownTimes,
  type Table,
} from "./figures.ts";
import { admittedOf } from "./scenarios/clients.ts";
import { ALONE, BESIDE } from "./scenarios/disk.ts";
import { counted } from "./scenarios/growth.ts";
import { FLOOR, OUR_FIRST_PAGE, OUR_GET, requestNames, STATIC_FLOOR } from "./scenarios/requests.ts";
import { scaledNames } from "./scenarios/scaled.ts";

/** What was aimed for beside what was measured; `holds` is unknown where it was not. */
export interface Judged {
  readonly aim: string;
  readonly measured: string;
  readonly holds: boolean | undefined;
  /** In how many of the rounds it holds, where each has a figure for both; a few of five are too few to tell. */
  readonly rounds?: { readonly held: number; readonly all: number } | undefined;
}

interface Aim {
  readonly aim: string;
  judge(tables: readonly Table[]): Omit<Judged, "aim"> | undefined;
}

const MILLION = 1_000_000;

/** Every aim as it was set, in the order of the report; only the moment at which memory is judged was chosen later. */
const aims: readonly Aim[] = [
  ofFloor(0.6, "GET by id at least 0.60 of a bare Bun.serve", "get"),
  besideFloor(
    atLeast(2.5, "GET by id at least 2.5 times Fastify", ["get", OURS], ["get", "fastify"]),
    "fastify",
  ),
  besideFloor(atLeast(4, "GET by id at least 4 times Express", ["get", OURS], ["get", "express"]), "express"),
  atLeast(1, "GET by id ahead of Elysia doing the same", ["get", OURS], ["get", dutiful("elysia")]),
  atLeast(1, "GET by id ahead of Hono doing the same", ["get", OURS], ["get", dutiful("hono")]),
  ordersAtLeast(3, "POST of an order at least 3 times the best Node peer", asIs),
  ordersSooner("POST of an order: p99 below that of the best Node peer", asIs),
  ofFloor(0.75, "429 at least 0.75 of a bare Bun.serve", "429"),
  ofFloor(0.75, "401 at least 0.75 of a bare Bun.serve", "401"),
  atLeast(1, "429 never slower than our GET by id", ["429", OURS], ["429", OUR_GET]),
  atLeast(1, "401 never slower than our GET by id", ["401", OURS], ["401", OUR_GET]),
  atMost(1.3, "page 10,000 within 1.3 times page 1", ["list-far", OUR_FIRST_PAGE], ["list-far", OURS]),
  atMost(
    1.3,
    "GET by id at 10 M pets within 1.3 times 1 k",
    ["pets", counted(1000)],
    ["pets", counted(10 * MILLION)],
  ),
  atMost(
    1.15,
    "1 M known clients, 1,000 asking, within 1.15 times one",
    ["clients", admittedOf(1, 1)],
    ["clients", admittedOf(MILLION, 1000)],
  ),
  atMost(
    1.15,
    "1 M known clients, all asking, within 1.15 times one",
    ["clients", admittedOf(1, 1)],
    ["clients", admittedOf(MILLION, MILLION)],
  ),
  memoryAtMost(0.6, "memory after more than 20 s of load at most 0.6 of Fastify's", "fastify", residentOf),
  atMost(
    2,
    "5 ms syncs: p99 of GET beside orders within 2 times without",
    ["slow-disk", BESIDE],
    ["slow-disk", ALONE],
  ),
  {
    aim: "no scenario in which a peer with the same promises answers more requests",
    judge: fasterPeers,
  },
  {
    aim: "on PostgreSQL and Redis ahead of Fastify in every request",
    judge: aheadWhenScaled,
  },
];

/** The same comparisons with a peer that does all that ours does, and of memory without mapped files. */
const evenAims: readonly Aim[] = [
  atLeast(
    2.5,
    "GET by id at least 2.5 times Fastify, same duties",
    ["get", OURS],
    ["get", dutiful("fastify")],
  ),
  atLeast(4, "GET by id at least 4 times Express, same duties", ["get", OURS], ["get", dutiful("express")]),
  ordersAtLeast(3, "POST of an order at least 3 times the best Node peer, same duties", dutiful),
  ordersSooner("POST of an order: p99 below that of the best Node peer, same duties", dutiful),
  memoryAtMost(
    0.6,
    "memory after more than 20 s of load at most 0.6 of Fastify's, same duties",
    dutiful("fastify"),
    residentOf,
  ),
  memoryAtMost(
    0.6,
    "memory of the process's own after more than 20 s of load at most 0.6 of Fastify's",
    "fastify",
    ownOf,
  ),
  memoryAtMost(
    0.6,
    "memory of the process's own after more than 20 s of load at most 0.6 of Fastify's, same duties",
    dutiful("fastify"),
    ownOf,
  ),
];

export function judged(tables: readonly Table[]): Judged[] {
  return judgedBy(aims, tables);
}

export function judgedEvenly(tables: readonly Table[]): Judged[] {
  return judgedBy(evenAims, tables);
}

function judgedBy(all: readonly Aim[], tables: readonly Table[]): Judged[] {
  return all.map(({ aim, judge }) => ({
    aim,
    ...(judge(tables) ?? { measured: "not measured", holds: undefined }),
  }));
}

type Place = readonly [table: string, who: string];

function atLeast(least: number, aim: string, of: Place, to: Place): Aim {
  return { aim, judge: (tables) => ratio(tables, of, to, (value) => value >= least) };
}

/**
 * Judged beside the floor that runs code for each request, as ours must; what Bun answers by itself is told of by the processor's
 * time alone, because wrk's core is full before the server's.
 */
function ofFloor(least: number, aim: string, name: string): Aim {
  return {
    aim,
    judge(tables) {
      const [ours, bare] = [find(tables, name, OURS), find(tables, name, STATIC_FLOOR)];
      const besides = ours && bare ? processorRatio(ours, bare, "of a static route by processor") : "";
      return ratio(tables, [name, OURS], [name, FLOOR], (value) => value >= least, besides);
    },
  };
}

/** Also says how many times the peer a server is that does nothing at all: so much of the floor is asked for. */
function besideFloor({ aim, judge }: Aim, peer: string): Aim {
  return {
    aim,
    judge(tables) {
      const judgement = judge(tables);
      const [floor, theirs] = [find(tables, "get", FLOOR), find(tables, "get", peer)];
      if (!judgement || !floor || !theirs) return judgement;
      return {
        ...judgement,
        measured: `${judgement.measured}; a bare Bun.serve is ${shownTimes(floor, theirs)} times ${peer}`,
      };
    },
  };
}

function atMost(most: number, aim: string, of: Place, to: Place): Aim {
  return { aim, judge: (tables) => ratio(tables, of, to, (value) => value <= most) };
}

type Weight = (figure: Figure | undefined) => Figure | undefined;

function residentOf(figure: Figure | undefined): Figure | undefined {
  return figure;
}

/** Of resident memory what is the process's own, of which only the middle is known. */
function ownOf(figure: Figure | undefined): Figure | undefined {
  const own = figure?.ownMebibytes;
  return own === undefined ? undefined : figureOf(figure?.who ?? "", [own]);
}

/** Also says what it was in the first seconds: which moment counts was chosen later. */
function memoryAtMost(most: number, aim: string, peer: string, weight: Weight): Aim {
  return {
    aim,
    judge(tables) {
      const at = (table: string) => [OURS, peer].map((who) => weight(find(tables, table, who)));
      const [ours, theirs] = at("memory");
      const [oursFirst, theirsFirst] = at("memory-first");
      const first =
        oursFirst && theirsFirst ? `; in the first seconds ${shownTimes(oursFirst, theirsFirst)}` : "";
      if (!ours || !theirs) return undefined;
      // One was weighed after the other: they have no round in common.
      return { ...found(ours, theirs, (value) => value <= most, first), rounds: undefined };
    },
  };
}

function ratio(
  tables: readonly Table[],
  of: Place,
  to: Place,
  holds: (value: number) => boolean,
  besides = "",
) {
  const [above, below] = [find(tables, ...of), find(tables, ...to)];
  return above && below && found(above, below, holds, processorRatio(above, below) + besides);
}

/** An aim holds if it does by what each round says and by the medians of all rounds. */
function found(above: Figure, below: Figure, holds: (value: number) => boolean, besides: string) {
  const figures = `${shown(above.middle)} / ${shown(below.middle)}${besides}`;
  const each = eachTimes(above, below);
  return {
    measured: `${shownTimes(above, below)} (${figures})`,
    holds: bothTimes(above, below).every(holds),
    rounds: each.length > 1 ? { held: each.filter(holds).length, all: each.length } : undefined,
  };
}

/** The same by the time of the processor that a request takes, which is steadier on a shared machine; it decides nothing. */
function processorRatio(above: Figure, below: Figure, words = "by processor"): string {
  if (above.cpuMicroseconds === undefined || below.cpuMicroseconds === undefined) return "";
  return `; ${words} ${(below.cpuMicroseconds / above.cpuMicroseconds).toFixed(2)}`;
}

type Naming = (peer: string) => string;

function asIs(peer: string): string {
  return peer;
}

function ordersAtLeast(least: number, aim: string, named: Naming): Aim {
  return {
    aim,
    judge: (tables) =>
      ratio(tables, ["post", OURS], ["post", bestNode(tables, named)], (value) => value >= least),
  };
}

function ordersSooner(aim: string, named: Naming): Aim {
  return {
    aim,
    judge(tables) {
      const ours = find(tables, "post", OURS)?.p99Milliseconds;
      const theirs = find(tables, "post", bestNode(tables, named))?.p99Milliseconds;
      if (ours === undefined || theirs === undefined) return undefined;
      return { measured: `${shown(ours)} ms against ${shown(theirs)} ms`, holds: ours < theirs };
    },
  };
}

function bestNode(tables: readonly Table[], named: Naming): string {
  const onNode = peers.filter(({ runtime }) => runtime === "node").map(({ name }) => named(name));
  const rate = (name: string) => find(tables, "post", name)?.middle ?? 0;
  return onNode.toSorted((a, b) => rate(b) - rate(a))[0] as string;
}

/** Peers with the same duties count; those that do less are told of. */
function fasterPeers(tables: readonly Table[]) {
  const seen = tables.filter(({ name }) => requestNames.includes(name));
  if (seen.length === 0) return undefined;
  const faster = (who: readonly { readonly name: string }[]) =>
    seen
      .flatMap((table) => {
        const ours = find([table], table.name, OURS);
        return who.flatMap(({ name }) => {
          const theirs = find([table], table.name, name);
          if (!ours || !theirs || bothTimes(theirs, ours).every((value) => value <= 1)) return [];
          return [`${name} in ${table.name} (${shownTimes(theirs, ours)})`];
        });
      })
      .join(", ");
  const [same, less] = [faster(dutifulPeers), faster(peers)];
  const absent = dutifulPeers
    .map(({ name }) => name)
    .filter((name) => seen.some((table) => !find([table], table.name, name)))
    .join(", ");
  const besides = `${less && `; doing less: ${less}`}${absent && `; not measured: ${absent}`}`;
  return { measured: `${same || "none"}${besides}`, holds: same === "" && absent === "" };
}

function aheadWhenScaled(tables: readonly Table[]) {
  const ratios = scaledNames.flatMap((name) => {
    const [ours, theirs] = [find(tables, name, scaledPetstore.name), find(tables, name, scaledFastify.name)];
    return ours && theirs ? [{ name, ours, theirs }] : [];
  });
  if (ratios.length === 0) return undefined;
  return {
    measured: ratios.map(({ name, ours, theirs }) => `${name} ${shownTimes(ours, theirs)}`).join("; "),
    holds: ratios.every(({ ours, theirs }) => bothTimes(ours, theirs).every((value) => value > 1)),
  };
}
