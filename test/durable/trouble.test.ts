import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { adminKey, aFolder, eventually, PETSTORE, petstore, run, serving } from "../cli/command.ts";
import { aStore, type Reply } from "../harness.ts";

const TIME_LIMIT_MS = 30_000;

test(
  "a disk without room is answered 503 while reads go on, and with room again the same request is done",
  async () => {
    using folder = aFolder();
    // A limit on the size of files is a full disk for one process; the signal that comes with it is ignored.
    const under = ["sh", "-c", 'trap "" XFSZ; exec "$@"', "sh"];
    await using server = await serving({ database: folder.database, under });
    const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
    const send = async (path: string, body?: unknown, key = "one") => {
      const asked = {
        method: "POST",
        body: JSON.stringify(body),
        headers: { ...headers, "idempotency-key": key },
      };
      const response = await fetch(server.url + path, body === undefined ? { headers } : asked);
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as Reply["body"],
      };
    };
    const roomFor = (bytes: string) => run(["prlimit", `--pid=${server.pid}`, `--fsize=${bytes}:`]);

    const category = await send("/categories", { name: "Dogs" }, "before");
    expect(category.status).toBe(201);
    expect(await roomFor("4096")).toMatchObject({ code: 0 });
    for (let attempt = 0; attempt < 3; attempt++) {
      const refused = await send("/pets", { name: "Rex", categoryId: category.body.id });
      expect(refused).toMatchObject({ status: 503, body: { code: "unavailable", status: 503 } });
      expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
      expect(refused.body.message).not.toMatch(/sqlite|disk|I\/O/i);
    }
    expect((await send("/categories")).body).toEqual([category.body]);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);

    expect(await roomFor("unlimited")).toMatchObject({ code: 0 });
    const isDone = async () =>
      (await send("/pets", { name: "Rex", categoryId: category.body.id })).status === 201;
    expect(await eventually(isDone, 3000)).toBe(true);
    expect((await send("/pets")).body).toHaveLength(1);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await server.end("SIGTERM")).toBe(0);
    expect(server.stdout()).toMatch(/"level":"error".*SQLITE|"level":"error".*disk/);
    expect((await petstore(["doctor"], { env: { DATABASE_URL: folder.database } })).code).toBe(0);
  },
  TIME_LIMIT_MS,
);

test(
  "with a full disk commands and the log say why, and a stop does not say that it tries again",
  async () => {
    using folder = aFolder();
    const under = ["sh", "-c", 'trap "" XFSZ; exec "$@"', "sh"];
    await using server = await serving({ database: folder.database, under, args: ["--demo"] });
    const env = { DATABASE_URL: folder.database };
    // What the server has written is more than this already, in each of its files.
    const bytes = "32768";
    const command = [...under, "prlimit", `--fsize=${bytes}:`, PETSTORE, "keys", "create"];
    const refused = await run(command, { env });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /^petstore: The data store is not available\. [^\n]* The cause: SQLiteError: [^\n]+\.\n$/,
    );

    expect(await run(["prlimit", `--pid=${server.pid}`, `--fsize=${bytes}:`])).toMatchObject({ code: 0 });
    // Whoever asks what was counted has it brought into the database.
    const ask = () => fetch(`${server.url}/account/usage`, { headers: { "x-api-key": adminKey(folder) } });
    const said = (message: string) =>
      server
        .stdout()
        .split("\n")
        .filter((line) => line.includes(message))
        .map((line) => JSON.parse(line).cause);
    const isTold = async () => (await ask()).ok && said("kept for the next time").length > 0;
    expect(await eventually(isTold, 5000)).toBe(true);
    expect(await server.end("SIGTERM")).toBe(0);
    const lines = server.stdout().split('"message":"stopping"');
    expect(lines[1]).not.toMatch(/tried again|next time/);
    for (const message of [
      "kept for the next time",
      "next start does not find is lost",
      "could not be closed",
    ])
      expect(said(message)[0], message).toMatch(/^SQLiteError: [^\n]+$/);
  },
  TIME_LIMIT_MS,
);

test("a write waits for another process that writes for a moment, and is done", async () => {
  await using store = await aStore();
  using other = new Database(store.config.databaseUrl);
  other.run("begin immediate");
  const writing = store.staff.post("/categories", { name: "Dogs" });
  // Reads need no lock: they are answered while the write waits.
  expect((await store.customer.get("/categories")).body).toEqual([]);
  await Bun.sleep(100);
  other.run("commit");
  expect((await writing).status).toBe(201);
});

test(
  "a write that another process locks out is answered 503 in time, and the next one is done",
  async () => {
    await using store = await aStore();
    using other = new Database(store.config.databaseUrl);
    other.run("begin immediate");
    const started = performance.now();
    const refused = await store.staff.post("/categories", { name: "Dogs" });
    expect(refused.body).toMatchObject({ code: "unavailable", status: 503 });
    expect(performance.now() - started).toBeLessThan(9000);
    other.run("rollback");
    expect((await store.staff.post("/categories", { name: "Cats" })).status).toBe(201);
    expect((await store.customer.get("/categories")).body).toMatchObject([{ name: "Cats" }]);
    expect(await store.findings()).toEqual([]);
  },
  TIME_LIMIT_MS,
);
