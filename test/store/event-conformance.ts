import { expect, test } from "bun:test";
import { eventTypes } from "../../src/contract/event-types.ts";
import type { EventQuery, NewEvent } from "../../src/core/ports.ts";
import type { OpenedStore } from "./opened.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");

/** The cases about the log of events. */
export function eventCases(named: (name: string) => string, opened: () => OpenedStore): void {
  const emit = (events: readonly NewEvent[], at = NOW) =>
    opened().transact(async (store) => store.emit(events, at));
  const event = (type: NewEvent["type"], clientId: number | null = null): NewEvent => ({
    type,
    subject: `subject of ${type}`,
    clientId,
    data: { of: clientId },
  });
  const read = async (query: Partial<EventQuery>) => {
    const { otherReads } = opened();
    const upTo = await otherReads.lastEvent();
    const events = await otherReads.events({ after: 0, upTo, limit: 100, ...query });
    return events.map(({ type, clientId }) => `${type} ${clientId}`);
  };

  test(named("an event is read as it was written, and not before it is committed"), async () => {
    const { otherReads } = opened();
    const after = await otherReads.lastEvent();
    await opened()
      .transact(async (store) => {
        await store.emit([event("pet.created")], NOW);
        throw new Error("undone");
      })
      .catch(() => {});
    await emit([event("order.placed", 7)]);
    const upTo = await otherReads.lastEvent();
    const [record, ...more] = await otherReads.events({ after, upTo, limit: 10 });
    const { type, subject, clientId, data } = event("order.placed", 7);
    expect(more).toEqual([]);
    expect(record).toEqual({
      id: expect.any(Number) as never,
      type,
      subject,
      clientId,
      data: JSON.stringify(data),
      at: NOW,
    });
    expect((await otherReads.eventBounds()).given).toBe(upTo);
  });

  test(named("events are read by client, by type and by both, up to a limit and a horizon"), async () => {
    const after = await opened().otherReads.lastEvent();
    await emit([
      event("pet.created"),
      event("order.placed", 1),
      event("order.placed", 2),
      event("key.banned", 1),
      event("pet.deleted"),
    ]);
    const all: (string | undefined)[] = [
      "pet.created null",
      "order.placed 1",
      "order.placed 2",
      "key.banned 1",
      "pet.deleted null",
    ];
    const [pet, first, second, ban, gone] = all;
    const cases: [Partial<EventQuery>, (string | undefined)[]][] = [
      [{}, all],
      [{ clientId: 1 }, [pet, first, ban, gone]],
      [{ clientId: null }, [pet, gone]],
      [{ types: ["order.placed"] }, [first, second]],
      [{ types: ["pet.deleted", "order.placed"] }, [first, second, gone]],
      [{ types: ["pet.deleted", "order.placed"], clientId: 2 }, [second, gone]],
      [{ types: ["order.placed"], clientId: null }, []],
      [{ types: ["order.placed", "order.placed"], clientId: 1 }, [first]],
      [{ types: [...eventTypes], limit: 3 }, [pet, first, second]],
      [{ clientId: 1, limit: 2 }, [pet, first]],
      [{ upTo: after }, []],
    ];
    for (const [query, expected] of cases)
      expect({ query, read: await read({ after, ...query }) }).toEqual({ query, read: expected as string[] });
  });

  test(named("the last event before a time is found wherever it is"), async () => {
    const { otherReads } = opened();
    const from = await otherReads.lastEvent();
    for (let day = 1; day <= 9; day++)
      await emit([event("pet.created"), event("pet.deleted")], NOW + day * 1000);
    const upTo = await otherReads.lastEvent();
    for (let day = 1; day <= 9; day++)
      for (const at of [NOW + day * 1000, NOW + day * 1000 - 999]) {
        const after = await otherReads.lastEventBefore(at, upTo);
        expect(upTo - after).toBe(2 * (10 - day));
      }
    expect(await otherReads.lastEventBefore(NOW + 99_000, upTo)).toBe(upTo);
    expect(await otherReads.lastEventBefore(0, upTo)).toBe(0);
    expect(await otherReads.lastEventBefore(NOW + 1000, from)).toBe(from);
    expect(await otherReads.lastEventBefore(NOW, 0)).toBe(0);
  });

  test(named("old events are forgotten some at a time, and it is known how far"), async () => {
    const { otherReads } = opened();
    const upTo = await otherReads.lastEvent();
    const old = (await otherReads.events({ after: 0, upTo, limit: 1000 })).length;
    const later = NOW + 1_000_000;
    await emit([event("pet.created")], later);
    const last = await otherReads.lastEvent();
    const forget = (limit: number) =>
      opened().transact(async (store) => store.forgetEvents(later, await store.lastEvent(), limit));
    expect(await forget(old - 1)).toBe(true);
    expect(await otherReads.events({ after: 0, upTo: last, limit: 1000 })).toHaveLength(2);
    expect(await forget(10)).toBe(false);
    expect(await otherReads.events({ after: 0, upTo: last, limit: 1000 })).toHaveLength(1);
    expect(await otherReads.eventBounds()).toEqual({ forgotten: upTo, given: last });
    expect(await forget(10)).toBe(false);
    expect(await otherReads.lastEvent()).toBe(last);
  });
}
