import { expect, test } from "bun:test";
import type { Behind, CountsLog } from "../../src/core/behind.ts";
import type { NewEvent } from "../../src/core/ports.ts";
import { WINDOW_COLUMNS } from "../../src/core/tally.ts";
import { writeBehind } from "../../src/limits/behind.ts";
import { memoryLimits } from "../../src/limits/memory.ts";
import { usageCounter } from "../../src/limits/usage.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const quota = { perMinute: 1_000_000, perDay: 1_000_000 };
/** As many as two ticks of events may wait. */
const [TICKS, EVENTS_A_TICK] = [5, 5000];
const bans = { strikes: 20, strikeWindowSeconds: 300, graceSeconds: 2, minutes: [5] };

/** What was counted, written behind by a `keep` of the test's own. */
function counting(keep: (part: Behind) => Promise<void>, log?: CountsLog) {
  const limits = memoryLimits({ bans, anonymous: quota, onBan: () => {}, tell: () => {} });
  const faults: unknown[] = [];
  const behind = writeBehind({
    limits,
    usage: usageCounter(),
    keep,
    log,
    fold: async () => true,
    foldAfterBytes: 1024 ** 2,
    onTrim: () => {},
    onFault: (error) => void faults.push(error),
  });
  return {
    behind,
    faults,
    request: (clientId: number) =>
      void limits.admit({ clientId, keyId: clientId, bannedUntil: null, ...quota }, NOW, false),
  };
}

/** The parts of a run that was killed, one for each of these clients. */
async function leftBy(...clients: readonly number[][]): Promise<Behind[]> {
  const parts: Behind[] = [];
  const { behind, request } = counting(async (part) => void parts.push(part));
  for (const each of clients) {
    each.forEach(request);
    await behind.flush();
  }
  await behind.stop();
  return parts;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(5);
}

const eventOf = (clientId: number): NewEvent => ({
  type: "quota.warning",
  subject: `clients/${clientId}`,
  clientId,
  data: {},
});

const clientsIn = ({ tally }: Behind) =>
  Array.from(
    { length: tally.windows.length / WINDOW_COLUMNS },
    (_, row) => tally.windows[row * WINDOW_COLUMNS],
  );

test("what gathers while counts are written waits for the next time, however long they take", async () => {
  const written: unknown[] = [];
  const { behind, request } = counting(async (part) => {
    written.push(clientsIn(part));
    await Bun.sleep(1);
    // There is always somebody who asks.
    request(written.length + 1);
  });
  request(1);
  await behind.flush();
  expect(written).toEqual([[1]]);
  await behind.flush();
  expect(written).toEqual([[1], [2]]);
  await behind.stop();
  expect(written).toEqual([[1], [2], [3]]);
});

test("those who wait for counts while some are being written share the next time", async () => {
  const written: unknown[] = [];
  const begun = Promise.withResolvers<void>();
  const { behind, request } = counting(async (part) => {
    written.push(clientsIn(part));
    begun.resolve();
    await Bun.sleep(1);
  });
  request(1);
  const first = behind.flush();
  await begun.promise;
  const others = [2, 3, 4].map((client) => {
    request(client);
    return behind.flush();
  });
  await first;
  expect(written).toEqual([[1]]);
  await Promise.all(others);
  expect(written).toEqual([[1], [2, 3, 4]]);
  await behind.stop();
});

test("a part that could not be written is the next to be tried, under the same number", async () => {
  const tried: Behind[] = [];
  let isAway = true;
  const { behind, faults, request } = counting(async (part) => {
    tried.push(part);
    if (isAway) throw new Error("The database is away.");
  });
  request(1);
  await expect(behind.flush()).rejects.toThrow("The database is away.");
  isAway = false;
  request(2);
  await behind.stop();
  expect(faults).toHaveLength(1);
  expect(tried.map((part) => [part.part, clientsIn(part)])).toEqual([
    [1, [1]],
    [1, [1]],
    [2, [2]],
  ]);
});

test("what has no room beside the database goes into it, behind what was kept apart", async () => {
  const written: unknown[] = [];
  const apart: unknown[] = [];
  let isFull = false;
  const { behind, faults, request } = counting(
    async (part) => void written.push([part.part, clientsIn(part)]),
    {
      left: [],
      async append(part) {
        if (isFull) throw new Error("The disk has no room for what was counted.");
        apart.push(clientsIn(part));
      },
      clear: async () => void apart.splice(0),
    },
  );
  request(1);
  await until(() => apart.length > 0);
  expect([apart, written]).toEqual([[[1]], []]);
  isFull = true;
  request(2);
  await behind.flush();
  expect([apart, written]).toEqual([
    [],
    [
      [1, [1]],
      [2, [2]],
    ],
  ]);
  expect(faults).toEqual([]);
  await behind.stop();
});

test("a part of which nobody knows whether the database has it is for the database, though there is room beside it again", async () => {
  const tried: unknown[] = [];
  const apart: unknown[] = [];
  let isFull = true;
  const { behind, request } = counting(
    async (part) => {
      tried.push([part.part, clientsIn(part)]);
      isFull = false;
      if (tried.length === 1) throw new Error("The write has no outcome in time.");
    },
    {
      left: [],
      async append(part) {
        if (isFull) throw new Error("The disk has no room for what was counted.");
        apart.push(clientsIn(part));
      },
      clear: async () => void apart.splice(0),
    },
  );
  request(1);
  await expect(behind.flush()).rejects.toThrow("no outcome");
  request(2);
  await until(() => apart.length > 0);
  expect(apart).toEqual([[2]]);
  await behind.stop();
  expect(tried).toEqual([
    [1, [1]],
    [1, [1]],
    [2, [2]],
  ]);
});

test("what the last run left goes into the database before all of this one, and is in the log until then", async () => {
  const written: unknown[] = [];
  let [isAway, isCleared] = [true, false];
  const left = await leftBy([8], [9]);
  const { behind, request } = counting(
    async (part) => {
      if (isAway) throw new Error("The database is away.");
      written.push([part.run === left[0]?.run, part.part, clientsIn(part)]);
    },
    {
      left,
      append: async () => {},
      clear: async () => {
        isCleared = true;
      },
    },
  );
  request(1);
  await expect(behind.fold()).rejects.toThrow("The database is away.");
  expect(isCleared).toBe(false);
  isAway = false;
  await behind.fold();
  await behind.stop();
  expect(isCleared).toBe(true);
  expect(written).toEqual([
    [true, 1, [8]],
    [true, 2, [9]],
    [false, 1, [1]],
  ]);
});

test("those who ask while a write fails share another, and have the outcome of that", async () => {
  const tried: unknown[] = [];
  const begun = Promise.withResolvers<void>();
  const { behind, faults, request } = counting(async (part) => {
    tried.push(clientsIn(part));
    begun.resolve();
    await Bun.sleep(1);
    if (tried.length === 1) throw new Error("The database is away.");
  });
  request(1);
  const first = behind.flush();
  await begun.promise;
  request(2);
  const others = [behind.flush(), behind.flush()];
  await expect(first).rejects.toThrow("The database is away.");
  await Promise.all(others);
  expect([tried, faults.length]).toEqual([[[1], [1], [2]], 1]);
  await behind.stop();
});

test("a stop whose counts cannot be written down ends all the same", async () => {
  const { behind, faults, request } = counting(async () => {
    throw new Error("The database is away.");
  });
  request(1);
  await behind.stop();
  expect(faults).toHaveLength(1);
});

test("an outage leaves one part more, however long it is, and the newest of its events", async () => {
  const written: Behind[] = [];
  let isAway = true;
  const { behind, request } = counting(async (part) => {
    if (isAway) throw new Error("The database is away.");
    written.push(part);
  });
  for (let tick = 0; tick < TICKS; tick++) {
    request(1);
    await expect(behind.flush()).rejects.toThrow("The database is away.");
    for (let n = 0; n < EVENTS_A_TICK; n++) behind.tell(eventOf(tick));
  }
  request(1);
  await expect(behind.flush()).rejects.toThrow("The database is away.");
  isAway = false;
  await behind.stop();
  expect(written.filter((part) => clientsIn(part).length > 0)).toHaveLength(2);
  expect(written.flatMap((part) => part.events).map(({ clientId }) => clientId)).toEqual(
    [3, 4].flatMap((tick) => new Array(EVENTS_A_TICK).fill(tick)),
  );
});

test("counts lag from when the last that were written were taken, until others are written", async () => {
  const { promise: isDue, resolve: write } = Promise.withResolvers<void>();
  const began = performance.now();
  const { behind, request } = counting(() => isDue);
  request(1);
  while (performance.now() - began < 60) await Bun.sleep(5);
  const takenAt = performance.now();
  const flushed = behind.flush();
  await Bun.sleep(5);
  expect(behind.lagMs()).toBeGreaterThan(60);
  while (performance.now() - takenAt < 30) await Bun.sleep(5);
  write();
  await flushed;
  const lag = behind.lagMs();
  expect(lag).toBeGreaterThan(29);
  expect(lag).toBeLessThanOrEqual(performance.now() - takenAt);
  await behind.stop();
});
