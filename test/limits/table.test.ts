import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { windowRows } from "../../src/core/tally.ts";
import { count, type Windows } from "../../src/core/windows.ts";
import { WindowTable } from "../../src/limits/table.ts";
import { seed } from "../seed.ts";

const NOON = Date.parse("2026-11-15T12:00:00Z") / 1000;
const PLENTY = { perMinute: 1_000_000, perDay: 1_000_000 };

function countIn(table: WindowTable, id: number, times = 1): void {
  for (let time = 0; time < times; time++) {
    count(table.open(id), PLENTY, NOON);
    table.keep();
  }
}

function read(table: WindowTable, id: number): Windows {
  return { ...table.open(id) };
}

function changed(table: WindowTable) {
  return windowRows(table.takeChanged());
}

describe("a table of windows", () => {
  test("starts everybody with nothing counted", () => {
    const table = new WindowTable();
    expect(table.has(1)).toBe(false);
    expect(read(table, 1)).toEqual({ minuteOpenedAt: 0, minuteCount: 0, day: 0, dayCount: 0 });
    expect(table.has(1)).toBe(true);
    expect(table.size).toBe(1);
  });

  test("keeps each one's counts apart while it grows", () => {
    const table = new WindowTable();
    for (let id = 0; id < 5000; id++) countIn(table, id, 1 + (id % 7));
    expect(table.size).toBe(5000);
    for (let id = 0; id < 5000; id++) expect(read(table, id).dayCount).toBe(1 + (id % 7));
  });

  test.each([2 ** 10, 2 ** 20, 2 ** 32, 2 ** 40])("tells ids apart that lie %d from each other", (step) => {
    const table = new WindowTable();
    const ids = Array.from({ length: 3000 }, (_, n) => 1 + n * step);
    for (const [n, id] of ids.entries()) countIn(table, id, 1 + (n % 3));
    expect(changed(table).map(({ clientId }) => clientId)).toEqual(ids);
    for (const [n, id] of ids.entries()) expect(read(table, id).dayCount).toBe(1 + (n % 3));
    expect(table.has(step)).toBe(false);
  });

  test("takes over what was written down, and has nothing to write for that", () => {
    const table = new WindowTable();
    const windows = { minuteOpenedAt: NOON - 5, minuteCount: 3, day: 20_000, dayCount: 17 };
    for (let id = 1; id <= 2000; id++) table.load(id, { ...windows, dayCount: id });
    expect(changed(table)).toEqual([]);
    expect(read(table, 1999)).toEqual({ ...windows, dayCount: 1999 });
  });

  test("loads beside changes without losing one", () => {
    const table = new WindowTable();
    countIn(table, 1);
    table.load(2, { minuteOpenedAt: 0, minuteCount: 0, day: 0, dayCount: 9 });
    countIn(table, 3);
    expect(changed(table).map(({ clientId }) => clientId)).toEqual([1, 3]);
    countIn(table, 2);
    expect(changed(table)).toMatchObject([{ clientId: 2, minuteCount: 1, dayCount: 1 }]);
  });

  test("gives what has changed once, and again when it has changed again", () => {
    const table = new WindowTable();
    for (let id = 0; id < 3; id++) countIn(table, id, 2);
    expect(changed(table).map(({ clientId, dayCount }) => [clientId, dayCount])).toEqual([
      [0, 2],
      [1, 2],
      [2, 2],
    ]);
    expect(changed(table)).toEqual([]);
    countIn(table, 2);
    expect(changed(table)).toMatchObject([{ clientId: 2, dayCount: 3 }]);
  });

  test("forgets all when it is cleared", () => {
    const table = new WindowTable();
    for (let id = 0; id < 3000; id++) countIn(table, id);
    table.clear();
    expect([table.size, table.has(5), changed(table)]).toEqual([0, false, []]);
    expect(read(table, 5).dayCount).toBe(0);
  });

  test("drops what is written down and keeps what is not, as a change still to be written", () => {
    const table = new WindowTable();
    for (let id = 0; id < 3000; id++) countIn(table, id, 2);
    table.takeChanged();
    for (const id of [5, 2999]) countIn(table, id);
    table.dropUnchanged();
    expect([table.size, table.has(6), table.has(2999)]).toEqual([2, false, true]);
    expect(changed(table).map(({ clientId, dayCount }) => [clientId, dayCount])).toEqual([
      [5, 3],
      [2999, 3],
    ]);
    expect(changed(table)).toEqual([]);
  });

  test("holds a million clients with the right counts, and each change once", () => {
    const table = new WindowTable();
    const clients = 1_000_000;
    for (let id = 1; id <= clients; id++) countIn(table, id);
    const sample = Array.from({ length: 1000 }, (_, index) => 1 + ((index * 999_331) % clients));
    for (const id of sample) countIn(table, id, 4);
    expect(table.size).toBe(clients);
    const rows = changed(table);
    expect(rows).toHaveLength(clients);
    expect(rows.reduce((sum, { dayCount }) => sum + dayCount, 0)).toBe(clients + 4 * sample.length);
    for (const id of sample) {
      expect(read(table, id)).toEqual({
        minuteOpenedAt: NOON,
        minuteCount: 5,
        day: Math.floor(NOON / 86_400),
        dayCount: 5,
      });
    }
  });

  test("counts as a plain map of objects would, whatever is done to it", () => {
    const id = fc.nat(5);
    const step = fc.oneof(
      fc.record({ does: fc.constant("count" as const), id }),
      fc.record({ does: fc.constant("take" as const) }),
      fc.record({ does: fc.constant("drop" as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const table = new WindowTable();
        const counted = new Map<number, number>();
        const written = new Map<number, number>();
        const write = () => {
          for (const row of changed(table)) written.set(row.clientId, row.dayCount);
        };
        for (const next of steps) {
          if (next.does === "take") write();
          else if (next.does === "drop") table.dropUnchanged();
          else {
            const { id } = next;
            // What was forgotten is read again from where it was written.
            const known = written.get(id);
            const day = Math.floor(NOON / 86_400);
            if (!table.has(id) && known !== undefined)
              table.load(id, { minuteOpenedAt: NOON, minuteCount: known, day, dayCount: known });
            countIn(table, id);
            counted.set(id, (counted.get(id) ?? 0) + 1);
          }
        }
        write();
        expect(written).toEqual(counted);
      }),
      { seed },
    );
  });
});
