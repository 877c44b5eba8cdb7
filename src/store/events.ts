import { eventScopes } from "../core/event-scopes.ts";
import type { EventQuery, EventRecord, NewEvent, Reads, Writes } from "../core/ports.ts";
import { LIMIT, listing, namesOf } from "./page.ts";
import { type Db, fragment, RowsStatement, sql, type Value } from "./statement.ts";

export interface EventRow {
  readonly type: string;
  readonly subject: string;
  readonly clientId: number | null;
  readonly data: string;
  readonly at: number;
}

export const eventColumns = fragment`id, type, subject, client_id as "clientId", data, at`;
const names = namesOf(eventColumns);

export const newEvents = fragment`events (type, subject, client_id, data, at)`;
export const eventValues = ["type", "subject", "clientId", "data", "at"] as const;
const insertEvents = new RowsStatement<EventRow>(
  eventValues,
  (values) => `insert into ${newEvents.text} ${values}`,
);

/** Of one writer numbers come in the order of their commits, and what is committed is all that was numbered. */
const lastEvent = sql<{ id: number }>`select seq as id from sqlite_sequence where name = 'events'`;

const forgottenUpTo = sql<{ id: number }>`select up_to as id from forgotten_events where id = 1`;
const forget = sql`delete from events where id > :after and id <= :upTo`;
const noteForgotten = sql`update forgotten_events set up_to = :upTo where id = 1 and up_to < :upTo`;

/** The oldest, of which one at a time tells whether those before it may go. */
const oldest = sql<{ id: number; at: number }>`
  select id, at from events where id > :after and id <= :upTo order by id limit cast(:limit as bigint)`;

/**
 * The last event before which all are older than a time: found by steps of half the length each, as in a book, because ids
 * come in the order of time but for moments.
 */
const lastBefore = sql<{ id: number }>`
  with recursive search (id, step) as (
    select cast(-1 as bigint), cast(:step as bigint)
    union all
    select id + case when id + step < :upTo
        and (select at from events where events.id > search.id + search.step order by events.id limit 1) < :at
      then step else 0 end, step / 2
    from search where step > 0)
  select max(id) + 1 as id from search`;

export function eventReads(db: Db): Pick<Reads, "lastEvent" | "eventBounds" | "events" | "lastEventBefore"> {
  const last = async () => (await db.get(lastEvent, {}))?.id ?? 0;
  return {
    lastEvent: last,
    eventBounds: async () => ({ forgotten: await forgottenEvents(db), given: await last() }),
    lastEventBefore: async (at, upTo) => {
      const found = await db.get(lastBefore, { step: 2 ** Math.ceil(Math.log2(upTo + 1)), upTo, at });
      return found?.id ?? 0;
    },
    events: (query) => {
      const page = eventPage(query);
      return page ? db.all(listing<EventRecord>(page.text), page.values) : [];
    },
  };
}

export async function forgottenEvents(db: Db): Promise<number> {
  return (await db.get(forgottenUpTo, {}))?.id ?? 0;
}

/** A page; each type, or each type of a client, is a range of an index of its own, and they are merged. */
function eventPage(query: EventQuery): { text: string; values: Value[] } | null {
  const { types, clientId, limit } = query;
  if (clientId === undefined && !types) return range({}, query);
  const { catalogue, client } = eventScopes(types);
  const ofType = (type: string) => range({ type }, query);
  const ofClient = (type: string) => range({ client_id: clientId as number, type }, query);
  const ranges = [
    ...catalogue.map(ofType),
    ...(clientId === null ? [] : client.map(clientId === undefined ? ofType : ofClient)),
  ];
  const [first = null] = ranges;
  if (ranges.length <= 1) return first;
  const merged = ranges.map(({ text }) => `select * from (${text}) as branch`).join(" union all ");
  return {
    text: `select ${names} from (${merged}) as merged order by id ${LIMIT}`,
    values: [...ranges.flatMap(({ values }) => values), limit],
  };
}

function range(of: Readonly<Record<string, Value>>, { after, upTo, limit }: EventQuery) {
  const equal = Object.keys(of).map((column) => `${column} = ? and `);
  return {
    text: `select ${eventColumns.text} from events where ${equal.join("")}id > ? and id <= ? order by id ${LIMIT}`,
    values: [...Object.values(of), after, upTo, limit],
  };
}

export function eventRows(events: readonly NewEvent[], now: number): EventRow[] {
  return events.map((event) => ({ ...event, data: JSON.stringify(event.data), at: now }));
}

export function eventWrites(db: Db): Pick<Writes, "emit" | "forgetEvents"> {
  return {
    emit: (events, now) => insertEvents.append(db, eventRows(events, now)),
    async forgetEvents(olderThan, upTo, limit) {
      const after = await forgottenEvents(db);
      const some = await db.all(oldest, { after, upTo, limit });
      const young = some.findIndex(({ at }) => at >= olderThan);
      const last = young === -1 ? some.at(-1) : some[young - 1];
      if (!last) return false;
      await db.run(forget, { after, upTo: last.id });
      await db.run(noteForgotten, { upTo: last.id });
      return young === -1 && some.length === limit;
    },
  };
}
