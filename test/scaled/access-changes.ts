// A change of keys, clients and bans, made at one instance or by the command beside them, acts at all of them.
import { plans } from "../../src/contract/plans.ts";
import { eventually } from "../cli/command.ts";
import { type Outcome, unless } from "./judge.ts";
import type { Length, Scenario } from "./scenarios.ts";
import { asked, type NewKey, type World } from "./world.ts";

const ACTS_WITHIN_MS = 1000;

export const accessChanges: readonly Scenario[] = [
  {
    name: "keys, clients and bans changed at one instance or by the command, within a second at all",
    shortMs: 1,
    longMs: 30_000,
    run: changes,
  },
];

interface Change {
  readonly what: string;
  /** Over HTTP at one instance, and by the command. */
  readonly http: (key: NewKey) => readonly [method: string, path: string, body?: unknown];
  readonly command: (key: NewKey) => readonly string[];
  /** What a request of the key is answered with as soon as it acts. */
  readonly status: number;
  readonly perMinute?: number;
}

const CHANGES: readonly Change[] = [
  {
    what: "plan",
    http: ({ clientId }) => ["PATCH", `/admin/clients/${clientId}`, { plan: "pro" }],
    command: ({ clientId }) => ["clients", "change", String(clientId), "--plan", "pro"],
    status: 200,
    perMinute: plans.pro.perMinute,
  },
  {
    what: "ban",
    http: ({ id }) => ["PUT", `/admin/keys/${id}/ban`, { minutes: 5 }],
    command: ({ id }) => ["bans", "impose", String(id), "--minutes", "5"],
    status: 403,
  },
  {
    what: "lift",
    http: ({ id }) => ["DELETE", `/admin/keys/${id}/ban`],
    command: ({ id }) => ["bans", "lift", String(id)],
    status: 200,
  },
  {
    what: "suspension",
    http: ({ clientId }) => ["PATCH", `/admin/clients/${clientId}`, { suspended: true }],
    command: ({ clientId }) => ["clients", "suspend", String(clientId)],
    status: 403,
  },
  {
    what: "resumption",
    http: ({ clientId }) => ["PATCH", `/admin/clients/${clientId}`, { suspended: false }],
    command: ({ clientId }) => ["clients", "resume", String(clientId)],
    status: 200,
  },
  {
    what: "revocation",
    http: ({ id }) => ["DELETE", `/admin/keys/${id}`],
    command: ({ id }) => ["keys", "revoke", String(id)],
    status: 401,
  },
];

async function changes(world: World, { ms, random }: Length): Promise<Outcome> {
  const problems: string[] = [];
  let [slowest, made] = [0, 0];
  const until = performance.now() + ms;
  do {
    for (const way of ["http", "command"] as const) {
      const key = await world.newKey();
      for (const change of CHANGES) {
        // Every instance remembers the key as it was.
        for (const url of world.urls) await (await asked(`${url}/account`, key.key)).arrayBuffer();
        const at = world.urls[Math.floor(random() * world.urls.length)] as string;
        const since = await done(world, change, key, way, at);
        const acts = await Promise.all(world.urls.map((url) => isActing(url, key.key, change)));
        const took = performance.now() - since;
        slowest = Math.max(slowest, took);
        made += 1;
        const may = ACTS_WITHIN_MS + world.heartbeat.missedMs(since, since + took);
        const isInTime = acts.every(Boolean) && took <= may;
        problems.push(...unless(isInTime, `${change.what} by ${way}: ${acts} after ${Math.round(took)} ms`));
      }
    }
  } while (performance.now() < until);
  return { figures: { changes: made, "slowest to act everywhere, ms": Math.round(slowest) }, problems };
}

/** Makes a change; the moment at which it was confirmed. */
async function done(world: World, change: Change, key: NewKey, way: "http" | "command", at: string) {
  if (way === "command") await world.command(...change.command(key));
  else {
    const [method, path, body] = change.http(key);
    const response = await asked(at + path, world.admin, method, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  }
  return performance.now();
}

function isActing(url: string, key: string, { status, perMinute }: Change): Promise<boolean> {
  return eventually(async () => {
    const response = await asked(`${url}/account`, key);
    await response.arrayBuffer();
    const limit = Number(response.headers.get("x-ratelimit-limit"));
    return response.status === status && (perMinute === undefined || limit === perMinute);
  }, 2 * ACTS_WITHIN_MS);
}
