import type { UsageQuery, UsageRecord, Writes } from "../core/ports.ts";
import { LAST_USED_COLUMNS, rowsOf, type Tally, usageIn } from "../core/tally.ts";
import { type Db, fragment, sql } from "./statement.ts";

/** Blocks of numbers are kept as they lie in memory. */
export interface TallyRow {
  readonly windows: Uint8Array;
  readonly usage: Uint8Array;
  readonly operations: string;
  readonly lastUsed: Uint8Array;
}

const columns = fragment`windows, usage, operations, last_used as "lastUsed"`;
const insertTally = sql`
  insert into tallies (is_sorted, windows, usage, operations, last_used)
  values (:isSorted, :windows, :usage, :operations, :lastUsed)`;
const takeTallies = sql<TallyRow & { id: number }>`
  delete from tallies where id in (select id from tallies where is_sorted = :isSorted order by id limit :most)
  returning id, ${columns}`;
const lastUsedBlocks = sql<{ block: Uint8Array }>`
  select last_used as block from tallies where length(last_used) > 0 order by is_sorted desc, id`;

export function tallyWrites(db: Db): Pick<Writes, "addTally" | "takeTallies"> {
  return {
    addTally: ({ windows, usage, operations, lastUsed }, isSorted) =>
      db.run(insertTally, {
        isSorted: isSorted ? 1 : 0,
        windows: bytesOf(windows),
        usage: bytesOf(usage),
        operations: JSON.stringify(operations),
        lastUsed: bytesOf(lastUsed),
      }),
    async takeTallies(isSorted, most) {
      const taken = await db.all(takeTallies, { isSorted: isSorted ? 1 : 0, most });
      return taken.sort((a, b) => a.id - b.id).map(tallyOf);
    },
  };
}

/** What a tally that is not in rows yet says of the usage. */
export function usageInTally(row: Pick<TallyRow, "usage" | "operations">, query: UsageQuery): UsageRecord[] {
  return usageIn({ usage: numbersOf(row.usage), operations: JSON.parse(row.operations) }, query);
}

/** When keys were last used, by tallies that are not in rows yet. */
export async function lastUses(db: Db): Promise<Map<number, number>> {
  const uses = new Map<number, number>();
  for (const { block } of await db.all(lastUsedBlocks, {}))
    for (const [keyId, at] of rowsOf(numbersOf(block), LAST_USED_COLUMNS))
      uses.set(keyId as number, at as number);
  return uses;
}

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
  return new Float64Array(bytes.slice().buffer);
}
