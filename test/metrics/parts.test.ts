// What the parts of a server tell of themselves: limits, database, writer, event loop, process.
import { expect, test } from "bun:test";
import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { families } from "../../src/metrics/families.ts";
import { ENGINE } from "../beside.ts";
import { eventually } from "../cli/command.ts";
import { aStore, type TestStore } from "../harness.ts";
import { instances } from "../scaled/instances.ts";
import { sharedPostgres } from "../servers/postgres.ts";
import { aDoor } from "../servers/proxy.ts";
import { aValkey } from "../servers/valkey.ts";
import { exposition } from "./exposition.ts";
import { answersIn, figureOf, metricsOf } from "./shop.ts";

const SOON_MS = 5000;

/** What only some servers have says so in its help. */
const only = (word: string) => families.filter(({ help }) => help.includes(`Only ${word}`));

function namesOn(engine: string, hasValkey: boolean): string[] {
  const ofTraces = only("with OTEL_EXPORTER_OTLP_ENDPOINT");
  const missing = new Set([
    ...(engine === "sqlite" ? only("on PostgreSQL") : only("on SQLite")),
    ...(hasValkey ? [] : only("with VALKEY_URL")),
    ...ofTraces,
    ...(existsSync("/proc/self/status") ? [] : only("on Linux")),
  ]);
  return families.filter((family) => !missing.has(family)).map(({ name }) => name);
}

async function settledAt(store: TestStore, isSo: (value: (name: string) => number) => boolean) {
  const metrics = { latest: await metricsOf(store, "port") };
  const isReached = await eventually(async () => {
    metrics.latest = await metricsOf(store, "port");
    return isSo((name) => figureOf(metrics.latest, name));
  }, SOON_MS);
  expect(isReached).toBe(true);
  return metrics.latest;
}

test("every metric that belongs to this engine is served as it is declared, and no other", async () => {
  await using store = await aStore({ METRICS_PORT: "0" });
  await store.customer.get("/pets");
  const metrics = await metricsOf(store, "port");
  const hasValkey = process.env.TEST_VALKEY_URL !== undefined;
  expect([...metrics.keys()]).toEqual(namesOn(ENGINE, hasValkey));
  for (const { name, type, help, labels, unit } of families) {
    const served = metrics.get(name);
    if (!served) continue;
    expect([name, served.type, served.help]).toEqual([name, type, help]);
    const [first] = served.samples;
    expect([name, Object.keys(first?.labels ?? {}).filter((label) => label !== "le")]).toEqual([
      name,
      [...labels],
    ]);
    if (unit === "seconds" || unit === "bytes") expect(name).toMatch(new RegExp(`_${unit}(_total)?$`));
  }
  const { labels } = metrics.get("petstore_build_info")?.samples[0] ?? {};
  expect(labels).toEqual({
    version: "1.0.0",
    bun: Bun.version,
    engine: ENGINE,
    limits: hasValkey ? "valkey" : "memory",
  });
  expect(figureOf(metrics, "petstore_database_up")).toBe(1);
});

test("an outage of Valkey is seen, and how many requests were limited from memory meanwhile", async () => {
  await using valkey = await aValkey();
  await using store = await aStore({ VALKEY_URL: valkey.url, VALKEY_PREFIX: "metrics:", METRICS_PORT: "0" });
  const up = await metricsOf(store, "port");
  expect([...up.keys()]).toEqual(
    namesOn(ENGINE, true).filter((name) => name !== "http_server_request_duration_seconds"),
  );
  const figures = (metrics: typeof up) => ({
    up: figureOf(metrics, "petstore_valkey_up"),
    closed: figureOf(metrics, "petstore_valkey_links", { breaker: "closed" }),
    open: figureOf(metrics, "petstore_valkey_links", { breaker: "open" }),
    outages: figureOf(metrics, "petstore_valkey_outages_total"),
    fromMemory: figureOf(metrics, "petstore_limited_from_memory_total"),
  });
  await store.customer.get("/pets");
  expect(figures(up)).toEqual({ up: 1, closed: 1, open: 0, outages: 0, fromMemory: 0 });
  await valkey.kill();
  await settledAt(store, (value) => value("petstore_valkey_up") === 0);
  for (let time = 0; time < 7; time++) expect((await store.customer.get("/pets")).status).toBe(200);
  expect(figures(await metricsOf(store, "port"))).toEqual({
    up: 0,
    closed: 0,
    open: 1,
    outages: 1,
    fromMemory: 7,
  });
  await valkey.restart();
  const back = await settledAt(store, (value) => value("petstore_valkey_up") === 1);
  expect(figures(back)).toEqual({ up: 1, closed: 1, open: 0, outages: 1, fromMemory: 7 });
});

test("an outage of PostgreSQL is seen on the port of its own, where no key has to be looked up", async () => {
  const server = await sharedPostgres();
  await using door = await aDoor(Number(new URL(server.url("postgres")).port));
  await using two = await instances(2, { METRICS_PORT: "0", DATABASE_CONNECTIONS: "5" }, door);
  const look = async (instance: number) =>
    exposition(await (await fetch(two.metricsUrls[instance] as string)).text());
  const before = await look(0);
  expect([...before.keys()]).toEqual(
    namesOn("postgres", false).filter((name) => name !== "http_server_request_duration_seconds"),
  );
  expect(figureOf(before, "petstore_database_connections_max")).toBe(5);
  expect((await two.send("GET", "/pets")).status).toBe(200);
  // Each instance tells of itself alone.
  expect([answersIn(await look(0)), answersIn(await look(1))]).toEqual([{ "GET /pets 200": 1 }, {}]);
  // Who asks for what others changed, and who sends webhooks, have connections now and then too.
  const open = ["used", "idle"].map((state) => figureOf(before, "petstore_database_connections", { state }));
  expect(open.reduce((sum = 0, count = 0) => sum + count)).toBeWithin(1, 6);
  door.shut();
  expect(await eventually(async () => figureOf(await look(0), "petstore_database_up") === 0, SOON_MS)).toBe(
    true,
  );
  expect(
    await eventually(async () => figureOf(await look(0), "petstore_database_outages_total") === 1, SOON_MS),
  ).toBe(true);
  // On the server's own port as soon as the key is no longer remembered.
  const withKey = () => fetch(`${two.urls[0]}/metrics`, { headers: { "x-api-key": two.key } });
  expect(await eventually(async () => (await withKey()).status === 503, SOON_MS)).toBe(true);
  expect(await (await withKey()).json()).toMatchObject({ code: "unavailable" });
  door.open();
  expect(await eventually(async () => figureOf(await look(0), "petstore_database_up") === 1, SOON_MS)).toBe(
    true,
  );
  expect(figureOf(await look(0), "petstore_database_outages_total")).toBe(1);
});

test(
  "a write that waits is seen until it is done",
  ENGINE === "sqlite" ? seenInTheWriter : seenInConnections,
);

test("an event loop that is held up is seen", async () => {
  await using store = await aStore({ METRICS_PORT: "0" });
  const name = "petstore_event_loop_delay_seconds";
  const slow = async () => {
    const metrics = await metricsOf(store, "port");
    return figureOf(metrics, `${name}_count`) - figureOf(metrics, `${name}_bucket`, { le: "0.1" });
  };
  const before = await slow();
  Bun.sleepSync(300);
  expect(await eventually(async () => (await slow()) > before, SOON_MS)).toBe(true);
});

test("the process is told as the system sees it", async () => {
  await using store = await aStore({ METRICS_PORT: "0" });
  const cpu = process.cpuUsage();
  const metrics = await metricsOf(store, "port");
  const seconds = figureOf(metrics, "process_cpu_seconds_total");
  expect(seconds).toBeGreaterThanOrEqual((cpu.user + cpu.system) / 1e6);
  const resident = figureOf(metrics, "process_resident_memory_bytes");
  expect(resident).toBeGreaterThan(10 * 1024 * 1024);
  if (!existsSync("/proc/self/status")) return;
  expect(figureOf(metrics, "petstore_anonymous_memory_bytes")).toBeLessThan(resident);
  const files = figureOf(metrics, "process_open_fds");
  expect(files).toBeLessThan(figureOf(metrics, "process_max_fds"));
  const opened = Array.from({ length: 50 }, () => openSync("/dev/null", "r"));
  const more = figureOf(await metricsOf(store, "port"), "process_open_fds");
  for (const file of opened) closeSync(file);
  expect(Math.abs(more - files - opened.length)).toBeLessThan(10);
});

/** Its counts do not lag meanwhile: they are written beside the database, and wait for nobody. */
async function seenInTheWriter(): Promise<void> {
  await using store = await aStore({ METRICS_PORT: "0" });
  const before = await metricsOf(store, "port");
  await store.beside.db.exec("begin immediate");
  const write = store.staff.post("/categories", { name: "Dogs" });
  await settledAt(store, (value) => value("petstore_writer_waiting") >= 1);
  await Bun.sleep(1500);
  const meanwhile = await metricsOf(store, "port");
  expect(figureOf(meanwhile, "petstore_writer_waiting")).toBeGreaterThanOrEqual(1);
  expect(figureOf(meanwhile, "petstore_behind_lag_seconds")).toBeLessThan(1.2);
  await store.beside.db.exec("rollback");
  expect((await write).status).toBe(201);
  const after = await settledAt(
    store,
    (value) =>
      value("petstore_writer_waiting") === 0 && value("petstore_writer_commit_duration_seconds_count") > 0,
  );
  const grown = (name: string) => figureOf(after, name) - figureOf(before, name);
  expect(grown("petstore_writer_commit_duration_seconds_count")).toBeGreaterThan(0);
  expect(grown("petstore_writer_writes_total")).toBeGreaterThanOrEqual(
    grown("petstore_writer_commit_duration_seconds_count"),
  );
  expect(figureOf(after, "petstore_database_bytes")).toBe(statSync(store.config.databaseUrl).size);
  expect(figureOf(after, "petstore_database_log_bytes")).toBe(
    statSync(`${store.config.databaseUrl}-wal`).size,
  );
}

async function seenInConnections(): Promise<void> {
  await using store = await aStore({ METRICS_PORT: "0" });
  await store.beside.db.exec("begin");
  await store.beside.db.exec("lock table categories in exclusive mode");
  const write = store.staff.post("/categories", { name: "Dogs" });
  const inUse = async () =>
    figureOf(await metricsOf(store, "port"), "petstore_database_connections", { state: "used" });
  expect(await eventually(async () => (await inUse()) === 1, SOON_MS)).toBe(true);
  await store.beside.db.exec("rollback");
  expect((await write).status).toBe(201);
  expect(await eventually(async () => (await inUse()) === 0, SOON_MS)).toBe(true);
}
