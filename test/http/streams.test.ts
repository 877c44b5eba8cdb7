import { afterAll, beforeAll, expect, test } from "bun:test";
import type { EventType } from "../../src/contract/event-types.ts";
import { type EventStreams, eventStreams } from "../../src/http/streams.ts";
import type { Sink } from "../../src/http/wire/stream.ts";
import { aStore, type TestStore } from "../harness.ts";

let store: TestStore;
let streams: EventStreams;
let questions = 0;
/** How far events can be read; with several writers that may go back. */
let horizon = Number.POSITIVE_INFINITY;
const faults: unknown[] = [];
beforeAll(async () => {
  store = await aStore();
  const { reads } = store.beside;
  const caller = { clientId: 1, keyId: 1, role: "admin", perMinute: 1, perDay: 1, lifts: 0 } as const;
  streams = eventStreams({
    store: {
      events: (query) => {
        questions += 1;
        return reads.events(query);
      },
      lastEvent: async () => Math.min(await reads.lastEvent(), horizon),
      eventBounds: () => reads.eventBounds(),
    },
    callers: { identify: () => ({ ...caller, bannedUntil: null, expiresAt: null }) },
    clock: () => store.clock.now,
    maxStreams: 1000,
    maxStreamsPerClient: 1000,
    onFault: (error) => void faults.push(error),
    heartbeatMs: 0,
  });
});
afterAll(async () => {
  streams.close();
  await store.stop();
  expect(faults).toEqual([]);
});

/** A follower whose caller has room or has not, as the test wants. */
function aFollower(after: number, types?: readonly EventType[]) {
  const heard = { text: "", hasRoom: true, waiting: Promise.withResolvers<void>() };
  const request = { url: "/events/stream", peer: "127.0.0.1", headers: { get: () => null } };
  const stream = streams.open({ after, types }, request, { clientId: 1 } as never);
  const sink: Sink = {
    send(text) {
      heard.text += text;
      heard.waiting.resolve();
      return heard.hasRoom;
    },
    end: () => stream.closed(),
  };
  stream.start(sink);
  return {
    heard,
    stream,
    ids: () => Array.from(heard.text.matchAll(/^id: (\d+)\nevent/gm), ([, id]) => Number(id)),
    /** When it has been sent something that looks like this. */
    async until(pattern: RegExp) {
      while (!pattern.test(heard.text)) {
        heard.waiting = Promise.withResolvers();
        await heard.waiting.promise;
      }
    },
  };
}

test("a heartbeat is a comment, and tells one who waits for a rare event how far the log is", async () => {
  await store.aPet();
  const rare = aFollower(await store.beside.reads.lastEvent(), ["pet.deleted"]);
  await rare.until(/^:\n\n/m);
  const { length } = rare.heard.text;
  await store.aPet();
  const last = await store.beside.reads.lastEvent();
  await rare.until(new RegExp(`^:\\nid: ${last}\\n\\n`, "m"));
  expect(rare.heard.text.slice(length)).not.toContain("event:");
  rare.stream.closed();
});

test("a heartbeat tells also of what came together with the last event, and was not for the follower", async () => {
  const pet = await store.aPet();
  const rare = aFollower(await store.beside.reads.lastEvent(), ["order.placed"]);
  await rare.until(/^:\n\n/m);
  await store.staff.post("/store/orders", { petId: pet.id });
  // The order's event, and then those of the stock that it took.
  await rare.until(/^event: order\.placed/m);
  const last = await store.beside.reads.lastEvent();
  expect(Math.max(...rare.ids())).toBeLessThan(last);
  await rare.until(new RegExp(`^:\nid: ${last}\n\n`, "m"));
  rare.stream.closed();
});

test("a follower without room is sent nothing more until it has taken all, and then misses nothing", async () => {
  const start = await store.beside.reads.lastEvent();
  const [slow, quick] = [aFollower(start), aFollower(start)];
  await store.aPet();
  await slow.until(/pet\.created/);
  slow.heard.hasRoom = false;
  const { id } = await store.aPet();
  await quick.until(new RegExp(`pets/${id}"`));
  // The first that it has no room for is sent still.
  const { length } = slow.heard.text;
  for (let more = 0; more < 5; more++) await store.aPet();
  const last = await store.beside.reads.lastEvent();
  await quick.until(new RegExp(`^id: ${last}\\nevent`, "m"));
  expect(slow.heard.text.length).toBe(length);
  slow.heard.hasRoom = true;
  slow.stream.drained();
  await slow.until(new RegExp(`^id: ${last}\\nevent`, "m"));
  expect(slow.ids()).toEqual(quick.ids());
  for (const { stream } of [slow, quick]) stream.closed();
});

test("a follower that is ahead of the reader is not sent what it has", async () => {
  await store.aPet();
  const last = await store.beside.reads.lastEvent();
  horizon = last - 1;
  const ahead = aFollower(last);
  await ahead.until(/^:/m);
  horizon = Number.POSITIVE_INFINITY;
  await store.aPet();
  await ahead.until(/pet\.created/);
  expect(ahead.ids()).toEqual([last + 1, last + 2]);
  ahead.stream.closed();
});

test("a hundred followers cost one question, and none when nothing is new", async () => {
  const start = await store.beside.reads.lastEvent();
  const followers = Array.from({ length: 100 }, () => aFollower(start));
  for (const each of followers) await each.until(/^:/m);
  questions = 0;
  await store.aPet(1, "Once");
  for (const each of followers) await each.until(/"Once"/);
  expect(questions).toBeLessThanOrEqual(2);
  questions = 0;
  // A heartbeat comes with every look at the keys, after several looks at the log.
  const [{ heard } = followers[0] as (typeof followers)[0]] = followers;
  const { length } = heard.text;
  while (heard.text.length === length) {
    heard.waiting = Promise.withResolvers();
    await heard.waiting.promise;
  }
  expect(questions).toBe(0);
  for (const { stream } of followers) stream.closed();
});
