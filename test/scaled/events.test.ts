import { expect, test } from "bun:test";
import { follow } from "../following.ts";
import { instances } from "./instances.ts";

const CATEGORIES = 150;
const AT_ONCE = 15;

test("followers of three instances, one of which goes from one to the next, hear what all three write: each event once, in one order", async () => {
  await using shop = await instances(3);
  const start = await shop.beside.reads.lastEvent();
  const asking = { headers: { "last-event-id": String(start) } };
  const followers = await Promise.all(shop.urls.map((url) => follow(url, shop, asking)));
  let next = 0;
  const lane = async () => {
    while (next < CATEGORIES) {
      const made = await shop.send("POST", "/categories", { name: `Kind ${next++}` });
      expect(made.status).toBe(201);
    }
  };
  const writing = Promise.all(Array.from({ length: AT_ONCE }, lane));
  /** Connects anew after every tenth event, each time elsewhere. */
  const wander = async () => {
    const ids: string[] = [];
    for (let turn = 0; ids.length < CATEGORIES; turn++) {
      const headers = { "last-event-id": ids.at(-1) ?? String(start) };
      await using stream = await follow(shop.urls[turn % 3] as string, shop, { headers });
      const some = await stream.events(Math.min(10, CATEGORIES - ids.length));
      ids.push(...some.map(({ id }) => id as string));
    }
    return ids;
  };
  const wandering = wander();
  await writing;
  const upTo = await shop.beside.reads.lastEvent();
  const written = (await shop.beside.reads.events({ after: start, upTo, limit: 1000 })).map(({ id }) =>
    String(id),
  );
  expect(written).toHaveLength(CATEGORIES);
  for (const follower of followers) {
    expect((await follower.events(CATEGORIES)).map(({ id }) => id as string)).toEqual(written);
    await follower.close();
  }
  expect(await wandering).toEqual(written);
});
