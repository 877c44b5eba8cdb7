import assert from "node:assert/strict";
import { test } from "node:test";
import { refuse, reply, type Step, scripted } from "../scripted.ts";

const rex = { id: 7, name: "Rex", categoryId: 1, status: "available" };

/** Seven pets, three on a page. */
const paged: Step = (exchange) => {
  const cursor = Number(new URL(exchange.arrival.path, "http://x").searchParams.get("cursor") ?? 0);
  const pets = Array.from({ length: Math.min(3, 7 - cursor) }, (_, index) => ({
    ...rex,
    id: cursor + index + 1,
  }));
  const next = cursor + 3 < 7 ? `</pets?limit=3&cursor=${cursor + 3}>; rel="next", ` : "";
  reply(200, pets, { link: `${next}</pets?limit=3>; rel="first"` })(exchange);
};

test("a list is walked over all its pages", async () => {
  await using server = await scripted(paged);
  const ids: number[] = [];
  for await (const { id } of server.client().pets.list({ limit: 3 })) ids.push(id);
  assert.deepEqual(ids, [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(
    server.arrivals.map(({ path }) => path),
    ["/pets?limit=3", "/pets?limit=3&cursor=3", "/pets?limit=3&cursor=6"],
  );
});

test("no page is fetched that nobody looks at", async () => {
  await using server = await scripted(paged);
  for await (const { id } of server.client().pets.list({ limit: 3 })) if (id === 4) break;
  assert.equal(server.arrivals.length, 2);
});

test("one page is an array that knows the next", async () => {
  await using server = await scripted(paged);
  let page = await server.client().pets.list({ limit: 3 });
  assert.equal(page.length, 3);
  assert.equal(page[0]?.id, 1);
  assert.deepEqual(
    page.map(({ id }) => id),
    [1, 2, 3],
  );
  assert.equal(JSON.parse(JSON.stringify(page)).length, 3);
  const sizes: number[] = [];
  for (;;) {
    sizes.push(page.length);
    const next: typeof page | undefined = await page.next();
    assert.equal(next !== undefined, page.hasNext);
    if (!next) break;
    page = next;
  }
  assert.deepEqual(sizes, [3, 3, 1]);
});

test("a list's whole answer has its page", async () => {
  await using server = await scripted(paged);
  const { data, status } = await server.client().pets.list({ limit: 3 }).withResponse();
  assert.deepEqual([status, data.length, data.hasNext], [200, 3, true]);
});

test("a page that fails midway ends the walk with its error, after the records before it", async () => {
  const broken: Step = (exchange) =>
    exchange.arrival.path.includes("cursor") ? refuse(400, "invalid_parameter")(exchange) : paged(exchange);
  await using server = await scripted(broken);
  const ids: number[] = [];
  await assert.rejects(
    async () => {
      for await (const { id } of server.client().pets.list({ limit: 3 })) ids.push(id);
    },
    { code: "invalid_parameter" },
  );
  assert.deepEqual(ids, [1, 2, 3]);
});

test("an aborted walk ends at once with the signal's reason, in the middle of a page and on the last one", async () => {
  for (const last of [2, 7]) {
    await using server = await scripted(paged);
    const stopping = new AbortController();
    const ids: number[] = [];
    const walk = (async () => {
      for await (const { id } of server.client().pets.list({ limit: 3 }, { signal: stopping.signal })) {
        ids.push(id);
        if (id === last - 1) stopping.abort(new Error("enough"));
      }
    })();
    await assert.rejects(walk, { message: "enough" });
    assert.equal(ids.length, last - 1);
    assert.equal(server.arrivals.length, Math.ceil((last - 1) / 3));
  }
});
