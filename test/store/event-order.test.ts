// On PostgreSQL transactions commit in another order than that of their events' numbers; whoever reads on must miss none.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import type { Command, Performed } from "../../src/core/perform.ts";
import type { NewEvent, Writes } from "../../src/core/ports.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { Engine } from "../../src/store/engine.ts";
import { openPostgresEngine } from "../../src/store/postgres/engine.ts";
import { sharedPostgres } from "../servers/postgres.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const WRITERS = 12;
const ROUNDS = 40;

let writing: Engine;
let reading: Engine;

type Work = (store: Writes) => Promise<unknown>;

beforeAll(async () => {
  const server = await sharedPostgres();
  const url = await server.newStore();
  // What a command does is its own input.
  const perform = async (store: Writes, { input }: Command): Promise<Performed> => ({
    body: await (input as Work)(store),
  });
  const options = { url, rules: rulesOf(readConfig({})), perform, onFault: () => {} };
  writing = openPostgresEngine({ ...options, connections: WRITERS + 2 });
  reading = openPostgresEngine({ ...options, connections: 2 });
});
afterAll(async () => {
  await writing.close();
  await reading.close();
});

const told = (subject: string): NewEvent => ({
  type: "pet.created",
  subject,
  clientId: null,
  data: { id: 1 },
});

const doing = (work: Work) =>
  writing.perform({
    operation: "test",
    caller: { clientId: 1, keyId: 1, role: "admin" },
    input: work,
    now: NOW,
  });

/** The answer that is kept takes the event along, and what is asked then is answered after it was numbered. */
async function tell(store: Writes, subject: string): Promise<void> {
  await store.emit([told(subject)], NOW);
  await store.keepAnswer(1, crypto.randomUUID(), { fingerprint: "f", body: null, tag: null }, NOW, 0);
  await store.eventBounds();
}

/** Tells of something, and commits when it is let; resolves when its numbers are taken. */
async function held(subject: string): Promise<{ commit(): Promise<void>; undo(): Promise<void> }> {
  const taken = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  const done = doing(async (store) => {
    await tell(store, subject);
    taken.resolve();
    await ending.promise;
  });
  await taken.promise;
  return {
    async commit() {
      ending.resolve();
      await done;
    },
    async undo() {
      ending.reject(new Error("undone"));
      await done.catch(() => {});
      await settled();
    },
  };
}

/** When nobody holds readers up any more: a rollback is not waited for by whoever was refused. */
async function settled(): Promise<void> {
  const { given } = await reading.reads.eventBounds();
  while ((await reading.reads.lastEvent()) < given) await Bun.sleep(1);
}

/** All that can be read after a position, and the position to go on from. */
async function readOn(after: number): Promise<{ subjects: string[]; position: number }> {
  const upTo = await reading.reads.lastEvent();
  const events = await reading.reads.events({ after, upTo, limit: 1000 });
  return {
    subjects: events.map(({ subject }) => subject),
    position: Math.max(after, upTo),
  };
}

test("what was committed behind an open transaction is read when that has ended, and nothing is missed", async () => {
  const { position: start } = await readOn(0);
  const first = await held("first");
  await (await held("second")).commit();
  const before = await readOn(start);
  expect(before.subjects).toEqual([]);
  await first.commit();
  const after = await readOn(before.position);
  expect(after.subjects).toEqual(["first", "second"]);
});

test("a transaction that is undone holds nobody up, and leaves a gap that nobody notices", async () => {
  const { position: start } = await readOn(0);
  const first = await held("undone");
  await (await held("kept")).commit();
  await first.undo();
  const { subjects, position } = await readOn(start);
  expect(subjects).toEqual(["kept"]);
  expect((await readOn(position)).subjects).toEqual([]);
});

test("of a writer that begins after the end was looked up, nothing is in what is read then", async () => {
  const { position: start } = await readOn(0);
  const upTo = await reading.reads.lastEvent();
  await (await held("late")).commit();
  expect(await reading.reads.events({ after: start, upTo, limit: 10 })).toEqual([]);
  expect((await readOn(start)).subjects).toEqual(["late"]);
});

test("a reader that follows a dozen writers sees each event once, in order, however their transactions interleave", async () => {
  let { position } = await readOn(0);
  const start = position;
  const seen: string[] = [];
  const written: string[] = [];
  let isOver = false;
  const write = async (writer: number) => {
    for (let round = 0; round < ROUNDS; round++) {
      const subject = `${writer}/${round}`;
      const isUndone = Math.random() < 0.1;
      const work = doing(async (store) => {
        await tell(store, subject);
        await Bun.sleep(Math.random() * 4);
        if (isUndone) throw new Error("undone");
      });
      await (isUndone ? work.catch(() => {}) : work.then(() => written.push(subject)));
    }
  };
  const follow = async () => {
    for (let isLast = false; !isLast; ) {
      isLast = isOver;
      const next = await readOn(position);
      seen.push(...next.subjects);
      position = next.position;
    }
  };
  const following = follow();
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  await settled();
  isOver = true;
  await following;
  expect(seen.toSorted()).toEqual(written.toSorted());
  const upTo = await reading.reads.lastEvent();
  const all = await reading.reads.events({ after: start, upTo, limit: 1000 });
  expect(seen).toEqual(all.map(({ subject }) => subject));
});
