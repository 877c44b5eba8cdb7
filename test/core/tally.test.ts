import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  combined,
  dealtOut,
  isEmpty,
  PART_ROWS,
  slices,
  type Tally,
  usageIn,
  usageRows,
  WINDOW_COLUMNS,
  windowRows,
} from "../../src/core/tally.ts";
import { seed } from "../seed.ts";

function tally(rows: {
  windows?: number[][];
  usage?: [client: number, day: number, operation: string, statusClass: number, requests: number][];
  lastUsed?: number[][];
}): Tally {
  const operations = [...new Set((rows.usage ?? []).map(([, , operation]) => operation))];
  const usage = (rows.usage ?? []).map(([client, day, operation, ...rest]) => [
    client,
    day,
    operations.indexOf(operation),
    ...rest,
  ]);
  const block = (list: number[][] = []) => Float64Array.from(list.flat());
  return { windows: block(rows.windows), usage: block(usage), operations, lastUsed: block(rows.lastUsed) };
}

const windowsOf = (parts: readonly Tally[]) => parts.flatMap(({ windows }) => windowRows(windows));
const usageOf = (parts: readonly Tally[]) => parts.flatMap(usageRows);

describe("tallies that are combined", () => {
  test("keep the last windows of each client", () => {
    const first = tally({
      windows: [
        [7, 100, 1, 20, 1],
        [3, 100, 5, 20, 9],
      ],
    });
    const second = tally({ windows: [[7, 160, 2, 20, 8]] });
    expect(windowsOf([combined([first, second])])).toEqual([
      { clientId: 3, minuteOpenedAt: 100, minuteCount: 5, day: 20, dayCount: 9 },
      { clientId: 7, minuteOpenedAt: 160, minuteCount: 2, day: 20, dayCount: 8 },
    ]);
  });

  test("add up requests of the same client, day, operation and class, whatever number an operation has in each", () => {
    const first = tally({
      usage: [
        [1, 20, "pets.list", 2, 3],
        [1, 20, "pets.get", 2, 1],
      ],
    });
    const second = tally({
      usage: [
        [1, 20, "pets.get", 2, 5],
        [1, 20, "pets.get", 4, 1],
        [1, 21, "pets.list", 2, 1],
      ],
    });
    const record = (day: number, operation: string, statusClass: number, requests: number) => ({
      clientId: 1,
      day,
      operation,
      statusClass,
      requests,
    });
    expect(usageOf([combined([first, second])])).toEqual([
      record(20, "pets.get", 2, 6),
      record(20, "pets.get", 4, 1),
      record(20, "pets.list", 2, 3),
      record(21, "pets.list", 2, 1),
    ]);
  });

  test("keep when each key was last used", () => {
    const first = tally({
      lastUsed: [
        [2, 10],
        [1, 11],
      ],
    });
    expect([...combined([first, tally({ lastUsed: [[2, 12]] })]).lastUsed]).toEqual([1, 11, 2, 12]);
  });

  test("are nothing if there are none", () => {
    expect(isEmpty(combined([]))).toBe(true);
    expect(dealtOut([])).toEqual([]);
  });
});

describe("tallies that are dealt out", () => {
  test("are parts that have no client in common, and of one client the rows in their order", () => {
    const clients = Array.from({ length: PART_ROWS * 4 + 1 }, (_, index) => [index * 3, 1, 1, 1, 1]);
    const later = clients.map(([id]) => [id as number, 2, 2, 2, 2]).toReversed();
    const parts = dealtOut([tally({ windows: clients }), tally({ windows: later })]);
    expect(parts.length).toBeGreaterThan(3);
    const seen = parts.map((part) => new Set(windowsOf([part]).map(({ clientId }) => clientId)));
    expect(seen.reduce((sum, { size }) => sum + size, 0)).toBe(clients.length);
    const written = parts.flatMap((part) => windowsOf([combined([part])]));
    expect(written.map(({ clientId }) => clientId)).toEqual(clients.map(([id]) => id as number));
    expect(new Set(written.map(({ dayCount }) => dayCount))).toEqual(new Set([2]));
  });

  test("are of about one size, though a few clients are far from all others", () => {
    const ids = [1, 2, ...Array.from({ length: PART_ROWS * 5 }, (_, index) => 9_000_000 + index)];
    const parts = dealtOut([tally({ windows: ids.map((id) => [id, 1, 1, 1, 1]) })]);
    for (const { windows } of parts)
      expect(windows.length / WINDOW_COLUMNS).toBeLessThanOrEqual(PART_ROWS + 1);
    expect(windowsOf(parts)).toHaveLength(ids.length);
  });

  test("hold what the tallies held, whatever that was", () => {
    const usage = fc.tuple(
      fc.nat(4),
      fc.integer({ min: 20, max: 22 }),
      fc.constantFrom("pets.list", "pets.get", "orders.place"),
      fc.integer({ min: 2, max: 5 }),
      fc.integer({ min: 1, max: 9 }),
    );
    fc.assert(
      fc.property(fc.array(fc.array(usage, { maxLength: 20 }), { maxLength: 5 }), (lists) => {
        const tallies = lists.map((list) => tally({ usage: list }));
        const sums = new Map<string, number>();
        for (const [client, day, operation, statusClass, requests] of lists.flat()) {
          const key = [client, day, operation, statusClass].join(" ");
          sums.set(key, (sums.get(key) ?? 0) + requests);
        }
        for (const parts of [[combined(tallies)], dealtOut(tallies).map((part) => combined([part]))]) {
          const found = usageOf(parts).map((row) => [
            [row.clientId, row.day, row.operation, row.statusClass].join(" "),
            row.requests,
          ]);
          expect(Object.fromEntries(found)).toEqual(Object.fromEntries(sums));
          expect(found).toHaveLength(sums.size);
        }
      }),
      { seed },
    );
  });
});

test("a large tally is cut into slices that hold the same", () => {
  const rows = Array.from({ length: 25 }, (_, index) => [index, 1, 1, 1, index]);
  const whole = tally({ windows: rows, lastUsed: [[1, 2]] });
  const cut = slices(whole, 10);
  expect(cut.map(({ windows }) => windows.length / WINDOW_COLUMNS)).toEqual([10, 10, 5]);
  expect(windowsOf(cut)).toEqual(windowsOf([whole]));
  expect(cut.map(({ lastUsed }) => [...lastUsed])).toEqual([[1, 2], [], []]);
  expect(slices(tally({}), 10)).toEqual([]);
});

test("a tally tells the usage of the client and the days that are asked for", () => {
  const counted = tally({
    usage: [
      [1, 20, "pets.list", 2, 3],
      [2, 20, "pets.get", 2, 1],
      [1, 22, "pets.get", 4, 7],
    ],
  });
  const of = (clientId: number | undefined, fromDay: number, toDay: number) =>
    usageIn(counted, { clientId, fromDay, toDay }).map(({ requests }) => requests);
  expect(of(1, 20, 22)).toEqual([3, 7]);
  expect(of(1, 21, 22)).toEqual([7]);
  expect(of(undefined, 20, 21)).toEqual([3, 1]);
  expect(of(9, 0, 100)).toEqual([]);
});
