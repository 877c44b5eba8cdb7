import { dutiful, dutifulPeers, peers, scaledFastify, scaledPetstore } from "./contenders.ts";
import { type Figure, find, OURS, shown, type Table, times } from "./figures.ts";
import { admittedOf } from "./scenarios/clients.ts";
import { ALONE, BESIDE } from "./scenarios/disk.ts";
import { counted } from "./scenarios/growth.ts";
import { FLOOR, OUR_FIRST_PAGE, OUR_GET, requestNames } from "./scenarios/requests.ts";
import { scaledNames } from "./scenarios/scaled.ts";

/** What was aimed for beside what was measured; `holds` is unknown where it was not. */
export interface Judged {
  readonly aim: string;
  readonly measured: string;
  readonly holds: boolean | undefined;
}

interface Aim {
  readonly aim: string;
  judge(tables: readonly Table[]): Omit<Judged, "aim"> | undefined;
}

const MILLION = 1_000_000;

/** Every aim as it was set, in the order of the report. */
const aims: readonly Aim[] = [
  atLeast(0.6, "GET by id at least 0.60 of a bare Bun.serve", ["get", OURS], ["get", FLOOR]),
  besideFloor(
    atLeast(2.5, "GET by id at least 2.5 times Fastify", ["get", OURS], ["get", "fastify"]),
    "fastify",
  ),
  besideFloor(atLeast(4, "GET by id at least 4 times Express", ["get", OURS], ["get", "express"]), "express"),
  atLeast(1, "GET by id ahead of Elysia doing the same", ["get", OURS], ["get", dutiful("elysia")]),
  atLeast(1, "GET by id ahead of Hono doing the same", ["get", OURS], ["get", dutiful("hono")]),
  ordersAtLeast(3, "POST of an order at least 3 times the best Node peer", asIs),
  ordersSooner("POST of an order: p99 below that of the best Node peer", asIs),
  atLeast(0.75, "429 at least 0.75 of a bare Bun.serve", ["429", OURS], ["429", FLOOR]),
  atLeast(0.75, "401 at least 0.75 of a bare Bun.serve", ["401", OURS], ["401", FLOOR]),
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
  atMost(0.6, "memory under load at most 0.6 of Fastify's", ["memory", OURS], ["memory", "fastify"]),
  atMost(
    2,
    "5 ms syncs: p99 of GET beside orders within 2 times without",
    ["slow-disk", BESIDE],
    ["slow-disk", ALONE],
  ),
  {
    aim: "no scenario in which a peer with the same promises is faster",
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
  atMost(
    0.6,
    "memory under load at most 0.6 of Fastify's, same duties",
    ["memory", OURS],
    ["memory", dutiful("fastify")],
  ),
  ownAtMost(
    0.6,
    "memory of the process's own under load at most 0.6 of Fastify's",
    ["memory", OURS],
    ["memory", "fastify"],
  ),
  ownAtMost(
    0.6,
    "memory of the process's own under load at most 0.6 of Fastify's, same duties",
    ["memory", OURS],
    ["memory", dutiful("fastify")],
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
        measured: `${judgement.measured}, a bare Bun.serve ${times(floor, theirs).toFixed(2)}`,
      };
    },
  };
}

function atMost(most: number, aim: string, of: Place, to: Place): Aim {
  return { aim, judge: (tables) => ratio(tables, of, to, (value) => value <= most) };
}

/** Of resident memory what is the process's own. */
function ownAtMost(most: number, aim: string, of: Place, to: Place): Aim {
  return {
    aim,
    judge(tables) {
      const [above, below] = [find(tables, ...of)?.ownMebibytes, find(tables, ...to)?.ownMebibytes];
      if (above === undefined || below === undefined) return undefined;
      return found(above / below, above, below, above / below <= most);
    },
  };
}

function ratio(tables: readonly Table[], of: Place, to: Place, holds: (value: number) => boolean) {
  const [above, below] = [find(tables, ...of), find(tables, ...to)];
  if (!above || !below) return undefined;
  const value = times(above, below);
  return found(value, above.middle, below.middle, holds(value), processorRatio(above, below));
}

function found(value: number, above: number, below: number, holds: boolean, besides = "") {
  return { measured: `${value.toFixed(2)} (${shown(above)} / ${shown(below)}${besides})`, holds };
}

/** The same by the time of the processor that a request takes, which is steadier on a shared machine; it decides nothing. */
function processorRatio(above: Figure, below: Figure): string {
  if (above.cpuMicroseconds === undefined || below.cpuMicroseconds === undefined) return "";
  return `; by processor ${(below.cpuMicroseconds / above.cpuMicroseconds).toFixed(2)}`;
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
          const value = ours && theirs ? times(theirs, ours) : 0;
          return value > 1 ? [`${name} in ${table.name} (${value.toFixed(2)})`] : [];
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
    return ours && theirs ? [{ name, value: times(ours, theirs) }] : [];
  });
  if (ratios.length === 0) return undefined;
  return {
    measured: ratios.map(({ name, value }) => `${name} ${value.toFixed(2)}`).join(", "),
    holds: ratios.every(({ value }) => value > 1),
  };
}
