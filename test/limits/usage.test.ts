import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { UsageRecord } from "../../src/core/ports.ts";
import { usageRows } from "../../src/core/tally.ts";
import { usageCounter } from "../../src/limits/usage.ts";
import { eventually } from "../cli/command.ts";
import { aStore, type Person, type Reply, type TestStore } from "../harness.ts";
import { ask, askTimes, DAY, getBanned, oneAMinute, TWO_WRITES_MS } from "./spending.ts";

/** Of clients that are in no table: more than any test makes. */
const FIRST = 1_000_000;

/** The usage as soon as it has so many requests in all, without those for the usage itself. */
async function usageWhen(
  read: () => Promise<Reply>,
  requests: number,
): Promise<{ status: number; body: Reply["body"] }> {
  let reply = await read();
  const counted = () =>
    Object.entries<number[]>(reply.body.byOperation)
      .filter(([operation]) => !operation.endsWith(".usage"))
      .flatMap(([, series]) => series)
      .reduce((sum, number) => sum + number, 0);
  await eventually(async () => {
    reply = await read();
    return counted() >= requests;
  }, 2 * TWO_WRITES_MS);
  return { status: reply.status, body: reply.body };
}

/** Each series has one number for each day, and they add up to the total. */
function expectAligned({ days, total, byOperation, byStatus }: Reply["body"]): void {
  expect(total).toHaveLength(days.length);
  for (const all of [byOperation, byStatus] as Record<string, number[]>[]) {
    const sums = new Array(days.length).fill(0);
    for (const series of Object.values(all)) {
      expect(series).toHaveLength(days.length);
      for (const [index, number] of series.entries()) sums[index] += number;
    }
    expect(sums).toEqual(total);
  }
}

const last = (series: readonly number[] | undefined) => series?.at(-1);

describe("the usage of a client", () => {
  test("is counted by day, operation and class of status", async () => {
    await using store = await aStore();
    const { customer } = store;
    await askTimes(customer, 3);
    await customer.get("/pets/999999");
    await customer.get("/nowhere");
    await customer.get("/pets?limit=0");
    await customer.post("/store/orders", {});
    const { body } = await usageWhen(() => customer.get("/account/usage"), 7);
    expect(body.days).toHaveLength(30);
    expect([body.days[0], body.days.at(-1)]).toEqual(["2026-10-17", "2026-11-15"]);
    expectAligned(body);
    expect(last(body.byOperation["pets.list"])).toBe(4);
    expect(last(body.byOperation["pets.get"])).toBe(1);
    expect(last(body.byOperation["orders.place"])).toBe(1);
    expect(last(body.byOperation.none)).toBe(1);
    expect(last(body.byStatus["4xx"])).toBe(3);
  });

  test("has the refused requests too, 429 and banned ones", async () => {
    await using store = await aStore();
    const person = await oneAMinute(store);
    await getBanned(store, person);
    await askTimes(person, 5);
    const read = () => store.admin.get(`/admin/usage?clientId=${person.clientId}`);
    const { body } = await usageWhen(read, 27);
    expectAligned(body);
    expect(last(body.byOperation["pets.list"])).toBe(27);
    expect([last(body.byStatus["2xx"]), last(body.byStatus["4xx"])]).toEqual([1, 26]);
  });

  test("has what all of its keys did, and nothing of others", async () => {
    await using store = await aStore();
    const sibling = await store.newPerson("staff", { clientId: store.customer.clientId });
    await askTimes(store.customer, 2);
    await askTimes(sibling, 3);
    await askTimes(store.stranger, 4);
    await store.nobody.get("/pets");
    const { body } = await usageWhen(() => sibling.get("/account/usage"), 5);
    expect(last(body.byOperation["pets.list"])).toBe(5);
  });

  test("goes over midnight into the next day's number", async () => {
    await using store = await aStore();
    const { customer } = store;
    store.clock.now = Date.parse("2028-02-28T23:59:59.999Z");
    await askTimes(customer, 2);
    store.clock.now += 1;
    await askTimes(customer, 3);
    store.clock.now += DAY;
    await askTimes(customer, 4);
    const { body } = await usageWhen(() => customer.get("/account/usage?from=2028-02-27"), 9);
    expect(body.days).toEqual(["2028-02-27", "2028-02-28", "2028-02-29", "2028-03-01"]);
    expect(body.byOperation["pets.list"]).toEqual([0, 2, 3, 4]);
    expectAligned(body);
  });

  test("survives a restart and is added to, never counted twice", async () => {
    await using store = await aStore();
    const { customer } = store;
    const read = () => customer.get("/account/usage?from=2026-11-15");
    for (let restart = 1; restart <= 3; restart++) {
      await askTimes(customer, 4);
      await store.restart();
      expect((await read()).body.byOperation["pets.list"]).toEqual([4 * restart]);
    }
    await askTimes(customer, 3);
    await Bun.sleep(TWO_WRITES_MS);
    expect((await read()).body.byOperation["pets.list"]).toEqual([15]);
  });

  test("costs a request itself", async () => {
    await using store = await aStore();
    await store.customer.get("/account/usage");
    await store.restart();
    const { body } = await store.customer.get("/account/usage?from=2026-11-15");
    expect(body).toEqual({
      days: ["2026-11-15"],
      total: [1],
      byOperation: { "account.usage": [1] },
      byStatus: { "2xx": [1] },
    });
  });
});

describe("for an admin", () => {
  test("it is of all clients, with those that ask the most", async () => {
    await using store = await aStore();
    const { admin, customer, stranger } = store;
    await askTimes(customer, 3);
    await askTimes(stranger, 7);
    const { body } = await usageWhen(() => admin.get("/admin/usage?from=2026-11-15"), 10);
    expectAligned(body);
    expect(body.byOperation["pets.list"]).toEqual([10]);
    const of = ({ clientId }: Person) =>
      body.topClients.find((each: { clientId: number }) => each.clientId === clientId);
    expect(of(stranger)).toEqual({
      clientId: stranger.clientId,
      name: "client of a customer",
      requests: 7,
    });
    expect(of(customer)?.requests).toBe(3);
    const requests = body.topClients.map((each: { requests: number }) => each.requests);
    expect(requests).toEqual([...requests].sort((a, b) => b - a));
  });

  test("at most twenty clients are named, the busiest", async () => {
    await using store = await aStore();
    const all: Person[] = [];
    for (let index = 1; index <= 23; index++) {
      const person = await store.newPerson("customer");
      await askTimes(person, index + 2);
      all.push(person);
    }
    await store.restart();
    const { body } = await store.admin.get("/admin/usage?from=2026-11-15");
    const busiest = all.slice(-20).reverse();
    expect(body.topClients.map((each: { clientId: number }) => each.clientId)).toEqual(
      busiest.map(({ clientId }) => clientId),
    );
  });

  test("it is the same whether what was counted is in rows or not: by day, and whoever it makes one of the busiest", async () => {
    await using store = await aStore();
    const today = Math.floor(store.clock.now / DAY);
    const from = today - 2;
    const rows: UsageRecord[] = [];
    for (let client = 1; client <= 400; client++)
      for (let day = from - 1; day <= today; day++)
        for (const [operation, statusClass] of [
          ["pets.list", 2],
          ["pets.get", 2],
          ["pets.get", 4],
        ] as const)
          rows.push({ clientId: FIRST + client, day, operation, statusClass, requests: 1000 + client });
    // In no row yet: one that makes a client the busiest, and one that makes two clients equal.
    const tally = {
      windows: new Float64Array(),
      usage: Float64Array.of(FIRST + 7, today, 0, 2, 50_000, FIRST + 399, from, 1, 5, 9),
      operations: ["pets.list", "orders.place"],
      lastUsed: new Float64Array(),
    };
    await store.beside.transact(async (writes) => {
      await writes.addUsage(rows);
      await writes.addTally(tally, false);
    });
    const path = `/admin/usage?from=${new Date(from * DAY).toISOString().slice(0, 10)}`;
    const { body } = await store.admin.get(path);
    expectAligned(body);
    const ofAll = 400 * 1000 + (400 * 401) / 2;
    expect(body.total).toEqual([3 * ofAll + 9, 3 * ofAll, 3 * ofAll + 50_000]);
    expect(body.byOperation).toEqual({
      "pets.list": [ofAll, ofAll, ofAll + 50_000],
      "pets.get": [2 * ofAll, 2 * ofAll, 2 * ofAll],
      "orders.place": [9, 0, 0],
    });
    expect(body.byStatus["5xx"]).toEqual([9, 0, 0]);
    const busiest = [7, 399, ...Array.from({ length: 19 }, (_, n) => (n === 0 ? 400 : 399 - n))].slice(0, 20);
    expect(body.topClients).toEqual(
      busiest.map((client) => ({
        clientId: FIRST + client,
        name: "removed",
        requests: 9 * (1000 + client) + (client === 7 ? 50_000 : client === 399 ? 9 : 0),
      })),
    );
  });

  test("of one client it is only of that, and of a removed one it stays", async () => {
    await using store = await aStore();
    const { admin, customer } = store;
    await askTimes(customer, 3);
    await ask(store.stranger);
    const path = `/admin/usage?clientId=${customer.clientId}&from=2026-11-15`;
    const { body } = await usageWhen(() => admin.get(path), 3);
    expect([body.total, body.topClients.length]).toEqual([[3], 1]);
    await admin.delete(`/admin/clients/${customer.clientId}`);
    const after = await admin.get(path);
    expect(after.body.total).toEqual([3]);
    expect(after.body.topClients).toEqual([
      { clientId: customer.clientId, name: expect.any(String), requests: 3 },
    ]);
  });

  test("of a client that never was it is nothing, day by day", async () => {
    await using store = await aStore();
    const { body } = await store.admin.get("/admin/usage?clientId=999999&from=2026-11-14");
    expect(body).toEqual({
      days: ["2026-11-14", "2026-11-15"],
      total: [0, 0],
      byOperation: {},
      byStatus: {},
      topClients: [],
    });
  });
});

describe("the days that are asked for", () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await aStore();
  });
  afterAll(() => store.stop());

  test.each([
    ["one day", "from=2026-11-15&to=2026-11-15", 1],
    ["92 days", "from=2026-08-16&to=2026-11-15", 92],
    ["thirty before a day", "to=2026-03-15", 30],
    ["days to come", "from=2026-11-15&to=2026-11-20", 6],
    ["a leap day among them", "from=2028-02-28&to=2028-03-01", 3],
  ])("may be %s", async (_, query, days) => {
    for (const [person, path] of [
      [store.customer, "/account/usage"],
      [store.admin, "/admin/usage"],
    ] as const) {
      const { status, body } = await person.get(`${path}?${query}`);
      expect([status, body.days.length]).toEqual([200, days]);
      expectAligned(body);
    }
  });

  test.each([
    ["93 days", "from=2026-08-15&to=2026-11-15", "from"],
    ["the last before the first", "from=2026-11-15&to=2026-11-14", "from"],
    ["a first day after today", "from=2026-11-16", "from"],
    ["a day that no month has", "from=2026-02-30", "from"],
    ["29 February of another year", "to=2027-02-29", "to"],
    ["a time", "from=2026-11-15T00:00:00Z", "from"],
    ["a word", "to=yesterday", "to"],
    ["nothing", "from=", "from"],
  ])("may not be %s", async (_, query, field) => {
    for (const [person, path] of [
      [store.customer, "/account/usage"],
      [store.admin, "/admin/usage"],
    ] as const) {
      const { status, body } = await person.get(`${path}?${query}`);
      expect({
        status,
        code: body.code,
        fields: body.details.map((each: { field: string }) => each.field),
      }).toEqual({
        status: 400,
        code: "invalid_parameter",
        fields: [field],
      });
    }
  });

  test("a customer cannot ask for another client's", async () => {
    const { status, body } = await store.customer.get("/account/usage?clientId=1");
    expect({ status, code: body.code }).toEqual({ status: 400, code: "invalid_parameter" });
    expect((await store.customer.get("/admin/usage")).status).toBe(403);
    expect((await store.staff.get("/admin/usage")).status).toBe(403);
  });
});

test("each of very many requests is counted once, for its client, operation, class of status and day", () => {
  const counter = usageCounter();
  const expected = new Map<string, number>();
  const found = new Map<string, number>();
  const midnight = Date.parse("2026-11-16T00:00:00Z");
  const take = () => {
    for (const { clientId, day, operation, statusClass, requests } of usageRows(counter.take())) {
      const row = [clientId, day, operation, statusClass].join(" ");
      found.set(row, (found.get(row) ?? 0) + requests);
    }
  };
  for (let request = 0; request < 100_000; request++) {
    const clientId = 1 + ((request * 7919) % 1_000);
    const operation = ["pets.get", "pets.list", undefined][request % 3];
    const status = [200, 404, 429, 503][request % 4] as number;
    const now = midnight - 60_000 + request;
    counter.record(clientId, operation, status, now);
    const row = [clientId, Math.floor(now / DAY), operation ?? "none", Math.floor(status / 100)].join(" ");
    expected.set(row, (expected.get(row) ?? 0) + 1);
    if (request === 70_000) take();
  }
  take();
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  expect(counter.take().usage).toHaveLength(0);
});
