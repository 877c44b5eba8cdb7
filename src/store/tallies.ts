import { Unavailable } from "../core/failure.ts";
import type { Awaitable, Writes } from "../core/ports.ts";
import type { Tally } from "../core/tally.ts";
import { type Db, fragment, sql } from "./statement.ts";

/** Blocks of numbers are kept as they lie in memory. */
interface TallyRow {
  readonly id: number;
  readonly windows: Uint8Array;
  readonly usage: Uint8Array;
  readonly operations: string;
  readonly lastUsed: Uint8Array;
}

const columns = fragment`id, windows, usage, operations, last_used as "lastUsed"`;
const insertTally = sql`
  insert into tallies (is_sorted, windows, usage, operations, last_used)
  values (:isSorted, :windows, :usage, :operations, :lastUsed)`;
/** Lengths are asked for by themselves: beside the sum SQLite would copy every block for it. */
const takeTallies = sql<TallyRow>`
  delete from tallies where id in
    (select id from
      (select id, sum(bytes) over (order by id) - bytes as before from
        (select id, length(windows) + length(usage) + length(last_used) as bytes
          from tallies where is_sorted = :isSorted) as sized) as summed
      where before < :mostBytes)
  returning ${columns}`;

const beginPart = sql<unknown>`
  insert into written_parts (run, part, at) values (:run, :part, :now)
  on conflict (run) do update set part = excluded.part, at = excluded.at where written_parts.part < excluded.part
  returning part`;
const forgetParts = sql`delete from written_parts where at < :before`;

export function tallyWrites(db: Db): Pick<Writes, "addTally" | "takeTallies" | "beginPart" | "forgetParts"> {
  return {
    addTally: ({ windows, usage, operations, lastUsed }, isSorted) =>
      db.run(insertTally, {
        isSorted: isSorted ? 1 : 0,
        windows: bytesOf(windows),
        usage: bytesOf(usage),
        operations: JSON.stringify(operations),
        lastUsed: bytesOf(lastUsed),
      }),
    async takeTallies(isSorted, mostBytes) {
      const taken = await db.all(takeTallies, { isSorted: isSorted ? 1 : 0, mostBytes });
      return taken.sort((a, b) => a.id - b.id).map(tallyOf);
    },
    beginPart: async (run, part, now) => (await db.get(beginPart, { run, part, now })) !== null,
    forgetParts: (before) => db.run(forgetParts, { before }),
  };
}

/** Tallies that are not in rows yet, as they are read beside rows. */
export interface TallyReads {
  /** All of them, oldest first. */
  all(): Promise<Tally[]>;
  /** These; `null` if one has been brought into rows meanwhile. */
  of(ids: readonly number[]): Promise<Tally[] | null>;
  /** Reads rows and tallies, until none of these was brought into rows between the two. */
  whileTheyStay<T>(read: () => Promise<T | null>): Promise<T>;
}

const tallyIds = sql<{ id: number }>`select id from tallies order by id`;
const talliesFrom = sql<TallyRow>`select ${columns} from tallies where id >= :least`;

/** A tally never changes, so each is read and decoded once. */
export function tallyReads(db: Db, beforeReading: () => Awaitable<void>): TallyReads {
  let known = new Map<number, Tally>();
  const of = async (ids: readonly number[]): Promise<Tally[] | null> => {
    const least = Math.min(...ids.filter((id) => !known.has(id)));
    const fresh = Number.isFinite(least) ? await db.all(talliesFrom, { least }) : [];
    const found = new Map(fresh.map((row) => [row.id, tallyOf(row)]));
    const next = new Map<number, Tally>();
    for (const id of ids) {
      const tally = known.get(id) ?? found.get(id);
      if (!tally) return null;
      next.set(id, tally);
    }
    known = next;
    return [...next.values()];
  };
  const whileTheyStay: TallyReads["whileTheyStay"] = async (read) => {
    await beforeReading();
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const found = await read();
      if (found !== null) return found;
    }
    throw new Unavailable("Tallies were brought into rows faster than they could be read.");
  };
  return {
    of,
    whileTheyStay,
    all: () => whileTheyStay(async () => of((await db.all(tallyIds, {})).map(({ id }) => id))),
  };
}

/** How often a read begins anew because what it found was brought into rows before it could look at it. */
const TRIES = 5;

function tallyOf({ windows, usage, operations, lastUsed }: TallyRow): Tally {
  return {
    windows: numbersOf(windows),
    usage: numbersOf(usage),
    operations: JSON.parse(operations),
    lastUsed: numbersOf(lastUsed),
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** A copy, because what a driver gives may lie anywhere in its buffer. */
function numbersOf(bytes: Uint8Array): Float64Array {
  return new Float64Array(new Uint8Array(bytes).buffer);
}
