import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { count, type Windows } from "../../src/core/windows.ts";
import { WindowTable } from "../../src/limits/table.ts";

const NOON = Date.parse("2026-11-15T12:00:00Z") / 1000;
const PLENTY = { perMinute: 1_000_000, perDay: 1_000_000 };

function countIn<Id>(table: WindowTable<Id>, id: Id, times = 1): void {
  for (let time = 0; time < times; time++) table.with(id, (windows) => count(windows, PLENTY, NOON));
}

function read<Id>(table: WindowTable<Id>, id: Id): Windows {
  return table.with(id, (windows) => ({ ...windows }));
}

describe("a table of windows", () => {
  test("starts everybody with nothing counted", () => {
    const table = new WindowTable<string>();
    expect(table.has("a")).toBe(false);
    expect(read(table, "a")).toEqual({ minuteOpenedAt: 0, minuteCount: 0, day: 0, dayCount: 0 });
    expect(table.has("a")).toBe(true);
    expect(table.size).toBe(1);
  });

  test("keeps each one's counts apart while it grows", () => {
    const table = new WindowTable<number>();
    for (let id = 0; id < 5000; id++) countIn(table, id, 1 + (id % 7));
    expect(table.size).toBe(5000);
    for (let id = 0; id < 5000; id++) expect(read(table, id).dayCount).toBe(1 + (id % 7));
  });

  test("takes over what was written down, and has nothing to write for that", () => {
    const table = new WindowTable<number>();
    const windows = { minuteOpenedAt: NOON - 5, minuteCount: 3, day: 20_000, dayCount: 17 };
    for (let id = 1; id <= 2000; id++) table.load(id, { ...windows, dayCount: id });
    expect(table.takeChanged(10)).toEqual([]);
    expect(read(table, 1999)).toEqual({ ...windows, dayCount: 1999 });
  });

  test("loads beside changes without losing one", () => {
    const table = new WindowTable<number>();
    countIn(table, 1);
    table.load(2, { minuteOpenedAt: 0, minuteCount: 0, day: 0, dayCount: 9 });
    countIn(table, 3);
    expect(table.takeChanged(10).map(({ id }) => id)).toEqual([1, 3]);
    countIn(table, 2);
    expect(table.takeChanged(10)).toMatchObject([{ id: 2, minuteCount: 1, dayCount: 1 }]);
  });

  test("gives what has changed once, in parts, and again when it is given back", () => {
    const table = new WindowTable<number>();
    for (let id = 0; id < 10; id++) countIn(table, id, 2);
    const first = table.takeChanged(4);
    expect(first.map(({ id, dayCount }) => [id, dayCount])).toEqual([
      [0, 2],
      [1, 2],
      [2, 2],
      [3, 2],
    ]);
    expect(table.takeChanged(100)).toHaveLength(6);
    expect(table.takeChanged(100)).toEqual([]);
    countIn(table, 2);
    table.giveBack(first.map(({ id }) => id));
    const again = table.takeChanged(100);
    expect(again.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3]);
    expect(again.find(({ id }) => id === 2)?.dayCount).toBe(3);
  });

  test("forgets all when it is cleared, and what is given back after that", () => {
    const table = new WindowTable<number>();
    for (let id = 0; id < 3000; id++) countIn(table, id);
    const taken = table.takeChanged(10);
    table.clear();
    table.giveBack(taken.map(({ id }) => id));
    expect([table.size, table.has(5), table.takeChanged(10)]).toEqual([0, false, []]);
    expect(read(table, 5).dayCount).toBe(0);
  });

  test("drops what is written down and keeps what is not, as a change still to be written", () => {
    const table = new WindowTable<number>();
    for (let id = 0; id < 3000; id++) countIn(table, id, 2);
    table.takeChanged(5000);
    for (const id of [5, 2999]) countIn(table, id);
    table.dropUnchanged();
    expect([table.size, table.has(6), table.has(2999)]).toEqual([2, false, true]);
    expect(table.takeChanged(10).map(({ id, dayCount }) => [id, dayCount])).toEqual([
      [5, 3],
      [2999, 3],
    ]);
    expect(table.takeChanged(10)).toEqual([]);
  });

  test("holds a million clients with the right counts, and each change once", () => {
    const table = new WindowTable<number>();
    const clients = 1_000_000;
    for (let id = 1; id <= clients; id++) countIn(table, id);
    const sample = Array.from({ length: 1000 }, (_, index) => 1 + ((index * 999_331) % clients));
    for (const id of sample) countIn(table, id, 4);
    expect(table.size).toBe(clients);
    const changed = table.takeChanged(clients * 2);
    expect(changed).toHaveLength(clients);
    expect(changed.reduce((sum, { dayCount }) => sum + dayCount, 0)).toBe(clients + 4 * sample.length);
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
      fc.record({ does: fc.constant("take" as const), most: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ does: fc.constant("fail" as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const table = new WindowTable<number>();
        const counted = new Map<number, number>();
        const written = new Map<number, number>();
        let last: (Windows & { id: number })[] = [];
        const write = (rows: typeof last) => {
          for (const row of rows) written.set(row.id, row.dayCount);
        };
        for (const next of steps) {
          if (next.does === "count") {
            countIn(table, next.id);
            counted.set(next.id, (counted.get(next.id) ?? 0) + 1);
          } else if (next.does === "take") {
            write(last);
            last = table.takeChanged(next.most);
          } else {
            table.giveBack(last.map((row) => row.id));
            last = [];
          }
        }
        write(last);
        write(table.takeChanged(100));
        expect(written).toEqual(counted);
      }),
    );
  });
});
