// What every engine owes the core about what was counted; a part of the one suite.
import { expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { perform } from "../../src/core/perform.ts";
import type { UsageRecord } from "../../src/core/ports.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { addClient, addKey, run } from "./members.ts";
import { NOW, type OpenedStore } from "./opened.ts";

/** The cases about usage, and the tallies that it is made of. */
export function tallyCases(named: (name: string) => string, opened: () => OpenedStore): void {
  /** What all clients asked on a day, added up. */
  const ofDay = async (day: number) => {
    const { sums, clients } = await opened().reads.usageOfDay(day);
    for (const each of sums) expect(each.day).toBe(day);
    return {
      sums: added(sums.map((each) => [`${each.operation} ${each.statusClass}`, each.requests])),
      clients: added(clients.map((each) => [String(each.clientId), each.requests])),
    };
  };

  test(named("usage adds up by client, day, operation and status, and is forgotten by day"), async () => {
    const { reads } = opened();
    const [{ id: clientId }, { id: other }] = [await addClient(opened()), await addClient(opened())];
    const row = (day: number, requests: number, more: Partial<UsageRecord> = {}): UsageRecord => ({
      clientId,
      day,
      operation: "pets.list",
      statusClass: 2,
      requests,
      ...more,
    });
    await run(opened(), (s) => s.addUsage([row(10, 1), row(11, 2), row(11, 1, { statusClass: 4 })]));
    await run(opened(), (s) =>
      s.addUsage([row(11, 5), row(12, 1, { operation: "pets.get" }), row(11, 9, { clientId: other })]),
    );
    const asked = async (fromDay: number, toDay: number, client: number) =>
      (await reads.usage({ clientId: client, fromDay, toDay })).sort(
        (a, b) => a.day - b.day || a.statusClass - b.statusClass,
      );
    expect(await asked(11, 11, clientId)).toEqual([row(11, 7), row(11, 1, { statusClass: 4 })]);
    expect(await asked(11, 11, other)).toEqual([row(11, 9, { clientId: other })]);
    expect(await asked(10, 12, clientId)).toHaveLength(4);
    expect(await ofDay(11)).toEqual({
      sums: { "pets.list 2": 16, "pets.list 4": 1 },
      clients: { [clientId]: 8, [other]: 9 },
    });
    expect(await ofDay(9)).toEqual({ sums: {}, clients: {} });
    expect(await opened().transact(async (s) => s.forgetUsage(12))).toBe(false);
    expect(await asked(10, 12, clientId)).toEqual([row(12, 1, { operation: "pets.get" })]);
    expect(await asked(10, 12, other)).toEqual([]);
    expect(await ofDay(12)).toEqual({ sums: { "pets.get 2": 1 }, clients: { [clientId]: 1 } });
  });

  test(named("between two days of all clients' usage others are served"), async () => {
    let served = 0;
    let isOver = false;
    const serve = () => {
      served += 1;
      if (!isOver) setImmediate(serve);
    };
    setImmediate(serve);
    for (let day = 1; day <= 5; day++) await ofDay(day);
    isOver = true;
    expect(served).toBeGreaterThanOrEqual(4);
  });

  test(named("tallies are taken once, oldest first, and their usage is told until they are"), async () => {
    const { reads } = opened();
    const { id: clientId } = await addClient(opened());
    const tally = (requests: number) => ({
      windows: Float64Array.of(clientId, 100, requests, 3, 4),
      usage: Float64Array.of(clientId, 50, 0, 2, requests),
      operations: ["pets.list"],
      lastUsed: Float64Array.of(7, NOW + 0.5),
    });
    for (const requests of [1, 2, 3]) await run(opened(), (s) => s.addTally(tally(requests), false));
    await run(opened(), (s) => s.addTally(tally(4), true));
    const told = async () =>
      (await reads.usage({ clientId, fromDay: 50, toDay: 50 })).map(({ requests }) => requests);
    expect((await told()).sort()).toEqual([1, 2, 3, 4]);
    expect(await ofDay(50)).toEqual({ sums: { "pets.list 2": 10 }, clients: { [clientId]: 10 } });
    expect(await ofDay(51)).toEqual({ sums: {}, clients: {} });
    expect(await reads.usage({ clientId: clientId + 1000, fromDay: 0, toDay: 100 })).toEqual([]);
    expect(await opened().transact(async (s) => s.takeTallies(false, 150))).toEqual([tally(1), tally(2)]);
    expect(await opened().transact(async (s) => s.takeTallies(false, 150))).toEqual([tally(3)]);
    expect(await opened().transact(async (s) => s.takeTallies(false, 150))).toEqual([]);
    expect(await told()).toEqual([4]);
    expect(await opened().transact(async (s) => s.takeTallies(true, 150))).toEqual([tally(4)]);
    expect(await told()).toEqual([]);
  });

  test(named("many rows at once are kept as one by one"), async () => {
    const { reads } = opened();
    const clients = Array.from({ length: 230 }, (_, index) => 5_000_000 + index);
    const rows = clients.map((clientId, index) => ({
      clientId,
      day: 70,
      operation: "pets.list",
      statusClass: 2,
      requests: index + 1,
    }));
    await run(opened(), (s) => s.addUsage(rows));
    await run(opened(), (s) => s.addUsage(rows.toReversed()));
    expect(await ofDay(70)).toEqual({
      sums: { "pets.list 2": 2 * rows.reduce((sum, { requests }) => sum + requests, 0) },
      clients: Object.fromEntries(rows.map(({ clientId, requests }) => [clientId, 2 * requests])),
    });
    for (const row of [rows[0], rows.at(-1)] as UsageRecord[])
      expect(await reads.usage({ clientId: row.clientId, fromDay: 70, toDay: 70 })).toEqual([
        { ...row, requests: 2 * row.requests },
      ]);
    await run(opened(), (s) => s.forgetUsage(71));
  });

  test(
    named("many tallies are folded step by step, and at every step nothing is missing or there twice"),
    async () => {
      const { reads } = opened();
      const rules = rulesOf(readConfig({}));
      const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
      const command = { operation: "behind.fold", caller, input: { bytesAtOnce: 10_000_000 }, now: NOW };
      const fold = async () =>
        ((await opened().transact((s) => perform(s, command, rules))).body as { isDone: boolean }).isDone;
      const FIRST = 7_000_000;
      const CLIENTS = 6000;
      const { id: clientId } = await addClient(opened());
      const { hash } = await addKey(opened(), clientId);
      while (!(await fold()));
      for (const round of [1, 2]) {
        const ids = [clientId, ...Array.from({ length: CLIENTS }, (_, index) => FIRST + index)];
        await run(opened(), (s) =>
          s.addTally(
            {
              windows: Float64Array.from(ids.flatMap((id) => [id, 100, round, 20, round])),
              usage: Float64Array.from(ids.flatMap((id) => [id, 80, 0, 2, round])),
              operations: [round === 1 ? "pets.get" : "pets.list"],
              lastUsed: new Float64Array(),
            },
            false,
          ),
        );
      }
      const total = async () => {
        const { sums, clients } = await reads.usageOfDay(80);
        const [ofSums, ofClients] = [sums, clients].map((all) =>
          all.reduce((sum, { requests }) => sum + requests, 0),
        );
        expect(ofClients).toBe(ofSums);
        return ofSums;
      };
      let steps = 0;
      do {
        expect(await total()).toBe(3 * (CLIENTS + 1));
        steps++;
      } while (!(await fold()));
      expect(steps).toBeGreaterThan(3);
      expect(await total()).toBe(3 * (CLIENTS + 1));
      const windows = { minuteOpenedAt: 100, minuteCount: 2, day: 20, dayCount: 2 };
      expect(await reads.keyByHash(hash)).toMatchObject({ windows });
      expect(await reads.usage({ clientId: FIRST + 5, fromDay: 80, toDay: 80 })).toHaveLength(2);
      let drops = 1;
      while (await opened().transact(async (s) => s.forgetUsage(81))) drops++;
      expect([await total(), drops]).toEqual([0, 1 + Math.floor((2 * (CLIENTS + 1)) / 1000)]);
    },
  );

  test(named("a part of a run is new once, and a later one after it"), async () => {
    const begin = (run: string, part: number) => opened().transact(async (s) => s.beginPart(run, part, NOW));
    expect([await begin("a", 1), await begin("a", 1), await begin("a", 2), await begin("b", 1)]).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(await begin("a", 1)).toBe(false);
    await run(opened(), (s) => s.forgetParts(NOW + 1));
    expect(await begin("b", 1)).toBe(true);
  });
}

function added(counted: readonly (readonly [name: string, requests: number])[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, requests] of counted) sums[name] = (sums[name] ?? 0) + requests;
  return sums;
}
