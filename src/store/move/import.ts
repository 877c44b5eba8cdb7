import { some } from "../../core/some.ts";
import { statement } from "../statement.ts";
import { type Counts, readEnd, readHeader, readRow, readTable } from "./format.ts";
import { type Lines, linesOf } from "./lines.ts";
import { CannotMove, countOf, type Filling, isEmpty, type MovedRow, RefusedRows } from "./moving.ts";
import { type CarriedTable, carried, ROWS_AT_ONCE } from "./tables.ts";

/** Characters and bytes that are added at once, however few rows they are. */
const LENGTH_AT_ONCE = 4 * 1024 * 1024;

/** Fills an empty store from the lines of an export, and proves that it is whole; whatever is thrown, nothing may be kept. */
export async function importStore(
  filling: Filling,
  chunks: AsyncIterable<Uint8Array>,
  onRows: (rows: number) => void = () => {},
): Promise<Counts> {
  await requireEmpty(filling);
  const lines = linesOf(chunks);
  const counts = await atLine(lines, () => filled(filling, lines, onRows));
  await requireWhole(filling, counts);
  return counts;
}

/** What a file begins with, which must hold its first line: refuses what is no export, or one that is not for this program. */
export async function requireHeader(beginning: Uint8Array): Promise<void> {
  const lines = linesOf([beginning]);
  await atLine(lines, async () => readHeader(await lines.next()));
}

async function requireEmpty({ db }: Filling): Promise<void> {
  for (const table of carried) {
    if (table.isSeeded) await db.run(statement(`delete from ${table.name}`, "list"), {});
    else if (!(await isEmpty(db, table)))
      throw new CannotMove(
        `The store is not empty: it has ${table.name}. An import needs a new one, which no server has been started on; nothing was changed.`,
      );
  }
}

async function filled(filling: Filling, lines: Lines, onRows: (rows: number) => void): Promise<Counts> {
  const counts: Record<string, number> = {};
  readHeader(await lines.next());
  let line = await lines.next();
  for (const table of carried) {
    const lastId = readTable(line, table);
    const batch = batchOf(filling, table, lines);
    let rows = 0;
    for (line = await lines.next(); Array.isArray(line); line = await lines.next()) {
      const row = readRow(line, table);
      if (table.numbersRows && (row[0] as number) > lastId)
        throw new CannotMove(`${table.name} ${row[0]} has a number above the table's last, ${lastId}`);
      await batch.add(row);
      rows += 1;
      onRows(1);
    }
    await batch.flush();
    await filling.continueAfter(table, lastId);
    counts[table.name] = rows;
  }
  const { rows, sha256 } = readEnd(line);
  if (sha256 !== lines.sha256Before())
    throw new CannotMove(
      "the checksum is not that of the lines before: the file was changed after its export",
    );
  const wrong = [...new Set([...Object.keys(counts), ...Object.keys(rows)])].find(
    (name) => counts[name] !== rows[name],
  );
  if (wrong !== undefined)
    throw new CannotMove(
      `the file says ${some(Number(rows[wrong]), "row")} of ${wrong}, and has ${counts[wrong]}`,
    );
  await lines.end();
  return counts;
}

/** Rows are added many at once; the lines they came from are named when the database refuses them. */
function batchOf(filling: Filling, table: CarriedTable, lines: Lines) {
  let rows: MovedRow[] = [];
  let length = 0;
  let since = 0;
  let until = 0;
  const flush = async () => {
    if (rows.length === 0) return;
    try {
      await filling.add(table, rows);
    } catch (error) {
      if (!(error instanceof RefusedRows)) throw error;
      const exact = since === until ? since : error.place === undefined ? undefined : since + error.place;
      const where = exact === undefined ? `lines ${since} to ${until}` : `line ${exact}`;
      throw new AtLine(`${where}: the store does not take a row of ${table.name}: ${error.message}`);
    }
    rows = [];
    length = 0;
  };
  return {
    async add(row: MovedRow) {
      if (rows.length === 0) since = lines.number;
      until = lines.number;
      rows.push(row);
      for (const value of row)
        if (typeof value === "string" || value instanceof Uint8Array) length += value.length;
      if (rows.length === ROWS_AT_ONCE || length > LENGTH_AT_ONCE) await flush();
    },
    flush,
  };
}

/** A complaint that says already where. */
class AtLine extends CannotMove {}

async function atLine<T>(lines: Lines, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CannotMove)) throw error;
    const where = error instanceof AtLine ? error.message : `line ${lines.number}: ${error.message}`;
    throw new CannotMove(`${where}. Nothing was imported.`);
  }
}

async function requireWhole(filling: Filling, counts: Counts): Promise<void> {
  for (const table of carried) {
    const kept = await countOf(filling.db, table);
    if (kept !== counts[table.name])
      throw new CannotMove(
        `The store has ${some(Number(kept), "row")} of ${table.name}, the file ${counts[table.name]}. Nothing was imported.`,
      );
  }
  const [finding] = (await filling.diagnose()).findings;
  if (finding)
    throw new CannotMove(
      `The store of this file is not whole: ${finding.check}: ${finding.message}. Run 'petstore doctor' where it came from. Nothing was imported.`,
    );
}
