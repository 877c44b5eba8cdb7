import { eventScopes } from "../../core/event-scopes.ts";
import type { EventQuery, EventRecord, Reads } from "../../core/ports.ts";
import { type EventRow, eventColumns, eventValues, forgottenEvents, newEvents } from "../events.ts";
import { type Db, type Fragment, fragment, RowsStatement, sql, statement } from "../statement.ts";
import type { Sent } from "./wire.ts";

// Numbers come from a sequence, and transactions commit in another order: 5 may be seen after 6. So whoever will take
// numbers first holds a shared lock that says after which, and whoever reads goes no further than the least of those.
// The lock is let go of after the commit can be seen. See docs/decisions/events.md.

/** What the locks' 64-bit keys begin with, in their highest 16 bits; the number is in the others. */
const TAG = fragment`20549`;
const given = fragment`select case when is_called then last_value else last_value - 1 end as id from events_id_seq`;

const holdBack = sql`
  select pg_advisory_xact_lock_shared((${TAG}::bigint << 48) | given.id) from (${given}) as given`;

/** The lock first: rows have their numbers only when they are joined with it. */
const tell = (values: string) => `
  insert into ${newEvents.text}
  with held as materialized (${holdBack.text})
  select type, subject, client_id::bigint, data, at::bigint
  from held, (${values}) as told (type, subject, client_id, data, at)`;

export const tellEvents = new RowsStatement<EventRow>(eventValues, tell);

/** The same, and another statement, whose arguments come after the events'. */
export function tellingAnd({ text }: Fragment): RowsStatement<EventRow> {
  return new RowsStatement<EventRow>(eventValues, (values) => `with told as (${tell(values)}) ${text}`);
}

/** For whoever gives events numbers by itself. */
export const eventLock: Sent = { text: holdBack.text };

/** The last number first, then the locks: whose lock is not seen by then takes numbers behind that one. */
const lastEvent = sql<{ given: number; id: number }>`
  with given as materialized (${given}),
    held as not materialized (select (classid::bigint << 32 | objid::bigint) & ((1::bigint << 48) - 1) as id from pg_locks
      where locktype = 'advisory' and mode = 'ShareLock' and granted and objsubid = 1 and classid::bigint >> 16 = ${TAG}
        and database = (select oid from pg_database where datname = current_database()))
  select given.id as given, coalesce((select min(held.id) from held where held.id < given.id), given.id) as id from given`;

const lastGiven = sql<{ id: number }>`${given}`;

const everyEvent = sql<EventRecord>`
  select ${eventColumns} from events where id > :after and id <= :upTo order by id limit cast(:limit as bigint)`;

/**
 * One text for however many types. The columns of an index are compared at once: of `type = ...` the planner may believe
 * that events of it are found sooner by walking the whole log, which is wrong for a type that has become rare.
 */
const typesOrdered = fragment`
  select found.* from (
    select e.* from string_to_table(:types, ',') as wanted (type) cross join lateral (
      select ${eventColumns} from events
      where (events.type, events.id) > (wanted.type, cast(:after as bigint))
        and (events.type, events.id) <= (wanted.type, cast(:upTo as bigint))
      order by events.type, events.id limit cast(:limit as bigint)) as e
    union all
    select e.* from string_to_table(:ownTypes, ',') as wanted (type) cross join lateral (
      select ${eventColumns} from events
      where client_id = cast(:clientId as bigint)
        and (events.type, events.id) > (wanted.type, cast(:after as bigint))
        and (events.type, events.id) <= (wanted.type, cast(:upTo as bigint))
      order by events.type, events.id limit cast(:limit as bigint)) as e
  ) as found order by found.id limit cast(:limit as bigint)`;

const eventsOfTypes = statement<EventRecord>(typesOrdered.text, "list");

function argumentsOf({ types, clientId, ...bounds }: EventQuery) {
  const { catalogue, client } = eventScopes(types);
  const ofAnybody = clientId === undefined ? [...catalogue, ...client] : catalogue;
  const own = typeof clientId === "number" ? client : [];
  return { ...bounds, types: ofAnybody.join(), ownTypes: own.join(), clientId: clientId ?? 0 };
}

export function orderedEventReads(db: Db): Pick<Reads, "events" | "lastEvent" | "eventBounds"> {
  return {
    events: ({ types, clientId, ...bounds }) =>
      clientId === undefined && !types
        ? db.all(everyEvent, bounds)
        : db.all(eventsOfTypes, argumentsOf({ types, clientId, ...bounds })),
    lastEvent: async () => (await db.get(lastEvent, {}))?.id ?? 0,
    eventBounds: async () => {
      const [forgotten, last] = await Promise.all([forgottenEvents(db), db.get(lastGiven, {})]);
      return { forgotten, given: last?.id ?? 0 };
    },
  };
}
