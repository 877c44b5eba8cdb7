// What must hold of a load, whatever was done to the servers meanwhile.
import { type Load, repeated, STOCK_OF_ALL } from "./load.ts";
import type { World } from "./world.ts";

/** Every request is answered within this. */
const ANSWERED_WITHIN_MS = 6000;
/** How many keys are sent once more at the end. */
const REPEATED = 60;
const SHOWN_PROBLEMS = 5;

/** What was seen, and what of it must not be. */
export interface Outcome {
  readonly figures: Readonly<Record<string, number | string>>;
  readonly problems: readonly string[];
}

/** Every request was answered in time with one of these statuses; a 503 says when to come back. */
export function answers(world: World, load: Load, allowed: readonly number[]): Outcome {
  const strange = load.requests.filter(
    ({ status, hasRetryAfter }) =>
      status === null || !allowed.includes(status) || (status === 503 && !hasRetryAfter),
  );
  const slow = load.requests.filter(
    ({ began, ms }) => ms > ANSWERED_WITHIN_MS + world.heartbeat.missedMs(began, began + ms),
  );
  const statuses = Object.entries(Object.groupBy(load.requests, ({ status }) => String(status)));
  return {
    figures: {
      requests: load.requests.length,
      statuses: statuses.map(([status, all = []]) => `${status} x ${all.length}`).join(", "),
      "slowest, ms": Math.round(Math.max(...load.requests.map(({ ms }) => ms))),
    },
    problems: [
      ...few(
        strange,
        ({ what, status, cause }) => `a request (${what}) met ${status ?? "no answer"}: ${cause}`,
      ),
      ...few(slow, ({ what, ms, status }) => `a request (${what}) took ${Math.round(ms)} ms, for ${status}`),
    ],
  };
}

/** Every order that was answered is there, one for each key, and the store adds up. */
export async function orders(world: World, load: Load): Promise<Outcome> {
  const kept = await world.rows(
    `select id::int, pet_id::int as pet from orders where pet_id in (${load.petIds.join(", ")})`,
  );
  const petOf = new Map(kept.map(({ id, pet }) => [id as number, pet as number]));
  const placed = [...load.orders];
  const lost = placed.filter(([, { id, petId }]) => petOf.get(id) !== petId);
  const [{ units } = {}] = await world.rows(
    `select sum(quantity)::int as units from pets where id in (${load.petIds.join(", ")})`,
  );
  const sample = placed.filter((_, n) => n % Math.ceil(placed.length / REPEATED) === 0);
  const anew = await Promise.all(
    sample.map(async ([key, { id, petId }], n) => {
      const url = world.urls[n % world.urls.length] as string;
      const { status, body } = await repeated(world, url, petId, key);
      return { id, status, again: body.id };
    }),
  );
  const { findings } = await world.command("doctor");
  return {
    figures: { orders: placed.length, "keys sent once more": sample.length },
    problems: [
      ...few(load.unsettled, (key) => `the order of ${key} could not be placed any more`),
      ...few(lost, ([key, { id }]) => `order ${id} of ${key} was answered and is not there`),
      ...unless(kept.length === placed.length, `${placed.length} keys made ${kept.length} orders`),
      ...unless(
        units === STOCK_OF_ALL - kept.length,
        `${kept.length} orders left ${units} of ${STOCK_OF_ALL} units`,
      ),
      ...few(
        anew.filter(({ id, status, again }) => status !== 201 || again !== id),
        ({ id, status, again }) =>
          `the key of order ${id}, sent anew, was answered ${status} with order ${again}`,
      ),
      ...few(findings as unknown[], (finding) => `the doctor found ${JSON.stringify(finding)}`),
    ],
  };
}

/** All of several outcomes. */
export function together(...outcomes: readonly Outcome[]): Outcome {
  return {
    figures: Object.assign({}, ...outcomes.map(({ figures }) => figures)),
    problems: outcomes.flatMap(({ problems }) => problems),
  };
}

export function unless(isTrue: boolean, problem: string): string[] {
  return isTrue ? [] : [problem];
}

/** The first of them in words, and how many more there are. */
function few<T>(all: readonly T[], inWords: (one: T) => string): string[] {
  const shown = all.slice(0, SHOWN_PROBLEMS).map(inWords);
  return all.length > SHOWN_PROBLEMS
    ? [...shown, `... and ${all.length - SHOWN_PROBLEMS} more like it`]
    : shown;
}
