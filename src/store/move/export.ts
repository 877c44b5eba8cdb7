import { createHash } from "node:crypto";
import type { Awaitable } from "../../core/ports.ts";
import { type Counts, endLine, headerLine, type Origin, rowLine, tableLine } from "./format.ts";
import { countOf, type Snapshot } from "./moving.ts";
import { carried } from "./tables.ts";

/** Rows that a snapshot has, in all tables. */
export async function rowsIn({ db }: Snapshot): Promise<number> {
  let rows = 0;
  for (const table of carried) rows += await countOf(db, table);
  return rows;
}

/** Writes the whole store as lines, some at a time; gives what it wrote by table. */
export async function exportStore(
  snapshot: Snapshot,
  origin: Origin,
  write: (lines: string) => Awaitable<void>,
  onRows: (rows: number) => void = () => {},
): Promise<Counts> {
  const hash = createHash("sha256");
  const put = async (lines: string) => {
    hash.update(lines);
    await write(lines);
  };
  const counts: Record<string, number> = {};
  await put(headerLine(origin));
  for (const table of carried) {
    let rows = 0;
    await put(tableLine(table, table.numbersRows ? await snapshot.lastId(table) : 0));
    for await (const some of snapshot.rows(table)) {
      await put(some.map((row) => rowLine(table, row)).join(""));
      rows += some.length;
      onRows(some.length);
    }
    counts[table.name] = rows;
  }
  await write(endLine({ rows: counts, sha256: hash.digest("hex") }));
  return counts;
}
