// What a request costs in processor time, log and disk, for docs/CAPACITY.md: node_modules/.bin/bun --no-install bench/costs.ts
// Processor time of a process hardly depends on what else the machine does; requests per second do.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { aPostgres, type PostgresServer } from "../test/servers/postgres.ts";
import { needed } from "../test/tools.ts";
import { median } from "./figures.ts";
import { memoryOf } from "./servers.ts";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "4" },
    connections: { type: "string", default: "32" },
  },
});
const PETSTORE = resolve(import.meta.dir, "../petstore");
const PETS = 1000;
const STOCK = 2_000_000_000;
const PLENTY = "1000000000";
/** A clock tick of /proc, in microseconds. */
const TICK_US = 10_000;
const REPORT = `
done = function(summary)
  local e = summary.errors
  io.write(string.format("MEASURED %d %d %d\\n", summary.requests, summary.duration, e.status + e.connect + e.read + e.write + e.timeout))
end`;

await needed("wrk");
const folder = mkdtempSync(join(tmpdir(), "petstore-costs-"));
try {
  const file = join(folder, "petstore.db");
  await costsOf("SQLite", file, () => [], sizeOfFile(file));
  await using postgres = await aPostgres({
    fsync: true,
    settings: { autovacuum: "on", shared_buffers: "256MB" },
  });
  const database = await postgres.newDatabase();
  await costsOf(
    "PostgreSQL",
    postgres.url(database),
    () => processesOf(postgres.port),
    sizeOfDatabase(postgres, database),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Bytes that orders, movements, events and kept answers take; what grows with each order. */
type Size = () => Promise<number>;

async function costsOf(
  engine: string,
  url: string,
  databasePids: () => number[],
  sizeNow: Size,
): Promise<void> {
  const env = { ...process.env, DATABASE_URL: url, BAN_STRIKES: "10000", BAN_GRACE_SECONDS: "3600" };
  const command = async (...words: string[]) => {
    const run = Bun.spawn([PETSTORE, ...words, "--json"], { env, stdout: "pipe" });
    return JSON.parse(await new Response(run.stdout).text());
  };
  const aKey = async (perMinute: string): Promise<string> => {
    const quota = ["--plan", "enterprise", "--per-minute", perMinute, "--per-day", PLENTY];
    const { id } = await command("clients", "create", "--name", "costs", ...quota);
    return (await command("keys", "create", "--client", String(id), "--role", "staff")).key;
  };
  // Commands make no store where there is none.
  Bun.spawnSync([PETSTORE, "migrate"], { env });
  const key = await aKey(PLENTY);
  const spent = await aKey("1");
  const log = join(folder, `${engine}.log`);
  const err = join(folder, `${engine}.err`);
  const server = Bun.spawn([PETSTORE, "serve", "--port", "0"], {
    cwd: folder,
    env,
    stdout: Bun.file(log),
    stderr: Bun.file(err),
  });
  try {
    const address = await listening(err);
    await fill(address, key);
    const idle = Math.round(memoryOf(server.pid).resident);
    console.log(`\n${engine}: ${idle} MiB resident after the start\n`);
    for (const { name, script } of scenarios(key, spent)) {
      const runs: Cost[] = [];
      for (let round = 0; round < Number(options.rounds); round++)
        runs.push(await cost(server.pid, databasePids, address, script, log, sizeNow));
      const middle = (of: (each: Cost) => number) => median(runs.map(of));
      const columns = [
        name.padEnd(34),
        `server ${middle((each) => each.serverUs)
          .toFixed(0)
          .padStart(4)} us`,
        `database ${middle((each) => each.databaseUs)
          .toFixed(0)
          .padStart(4)} us`,
        `log ${middle((each) => each.logBytes).toFixed(0)} bytes`,
        `grew ${middle((each) => each.grownBytes).toFixed(0)} bytes`,
        `${middle((each) => each.rate).toFixed(0)}/s`,
        `server ${runs.map((each) => each.serverUs.toFixed(0)).join(", ")}`,
        `refused ${runs.reduce((sum, each) => sum + each.refused, 0)} of ${runs.reduce((sum, each) => sum + each.requests, 0)}`,
      ];
      console.log(columns.join("  "));
    }
    console.log(`${Math.round(memoryOf(server.pid).resident)} MiB resident at the end`);
  } finally {
    server.kill("SIGTERM");
    await server.exited;
  }
}

interface Cost {
  readonly requests: number;
  readonly refused: number;
  readonly rate: number;
  readonly serverUs: number;
  readonly databaseUs: number;
  readonly logBytes: number;
  readonly grownBytes: number;
}

async function cost(
  serverPid: number,
  databasePids: () => number[],
  address: string,
  script: string,
  log: string,
  sizeNow: Size,
): Promise<Cost> {
  // Asked for anew each time: connections that are opened meanwhile are processes too.
  const databaseUs = () => databasePids().reduce((sum, pid) => sum + processorUs(pid), 0);
  const before = {
    server: processorUs(serverPid),
    database: databaseUs(),
    log: statSync(log).size,
    size: await sizeNow(),
  };
  const lua = join(folder, "load.lua");
  await Bun.write(lua, script + REPORT);
  const wrk = ["wrk", "-t1", `-c${options.connections}`, `-d${options.seconds}s`, "-s", lua, address];
  const output = await new Response(Bun.spawn(wrk, { stdout: "pipe" }).stdout).text();
  const found = /^MEASURED (\d+) (\d+) (\d+)$/m.exec(output);
  if (!found) throw new Error(`wrk said: ${output}`);
  // What was counted is written behind within a second, and the log within a tenth.
  await Bun.sleep(1500);
  const [requests, micros, refused] = found.slice(1).map(Number) as [number, number, number];
  return {
    requests,
    refused,
    rate: (requests / micros) * 1_000_000,
    serverUs: (processorUs(serverPid) - before.server) / requests,
    databaseUs: (databaseUs() - before.database) / requests,
    logBytes: (statSync(log).size - before.log) / requests,
    grownBytes: ((await sizeNow()) - before.size) / requests,
  };
}

function scenarios(key: string, spent: string): { name: string; script: string }[] {
  const asking = (apiKey: string, more = "") =>
    `local headers = { ["X-API-Key"] = "${apiKey}", ["Content-Type"] = "application/json" }\nlocal n = 0\n${more}\n`;
  const sends = (call: string) => `request = function() return wrk.format(${call}) end`;
  const order = `'{"petId":' .. math.random(${PETS}) .. ',"quantity":1}'`;
  const keyed = `request = function()
  n = n + 1
  headers["Idempotency-Key"] = run .. n
  return wrk.format("POST", "/store/orders", headers, ${order})
end`;
  // Each run has keys of its own, or the second would be answered from what the first kept.
  const aRun = `math.randomseed(os.time())\nlocal run = tostring(math.random(1000000000)) .. "-"`;
  return [
    {
      name: "GET /store/pets/{petId}",
      script: asking(key) + sends(`"GET", "/store/pets/" .. math.random(${PETS}), headers`),
    },
    { name: "GET /pets, 20 records", script: asking(key) + sends('"GET", "/pets?limit=20", headers') },
    {
      name: "POST /store/orders",
      script: asking(key) + sends(`"POST", "/store/orders", headers, ${order}`),
    },
    { name: "POST with an Idempotency-Key", script: asking(key, aRun) + keyed },
    { name: "429", script: asking(spent) + sends('"GET", "/store/pets/1", headers') },
  ];
}

async function fill(address: string, key: string): Promise<void> {
  const send = async (method: string, path: string, body: unknown) => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const response = await fetch(address + path, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return (await response.json()) as { id: number };
  };
  const { id: categoryId } = await send("POST", "/categories", { name: "Dogs", description: "Loyal" });
  const pets = Array.from({ length: PETS }, (_, n) => ({ name: `Pet ${n + 1}`, categoryId }));
  await send("POST", "/pets/batch", pets);
  for (let id = 1; id <= PETS; id++) await send("PUT", `/store/inventory/${id}`, { quantity: STOCK });
}

async function listening(file: string): Promise<string> {
  for (let tries = 0; tries < 400; tries++) {
    const found = /listening on (http:\/\/\S+)/.exec(await Bun.file(file).text())?.[1];
    if (found) return found;
    await Bun.sleep(50);
  }
  throw new Error(`It did not start: ${await Bun.file(file).text()}`);
}

/** User and system time of a process with all its threads, and of its children that have ended. */
function processorUs(pid: number): number {
  const fields = statOf(pid)?.split(" ") ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_US, 0);
}

/** What follows the name in /proc, or nothing if the process has ended. */
function statOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1);
  } catch {
    return undefined;
  }
}

/** The main process of the PostgreSQL that listens there, and all its children. */
function processesOf(port: number): number[] {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const main = pids.find((pid) => commandOf(pid).includes(`port=${port}`));
  return main === undefined
    ? []
    : [main, ...pids.filter((pid) => Number(statOf(pid)?.split(" ")[1]) === main)];
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function sizeOfFile(file: string): Size {
  return async () => {
    // By SQLite's own count: the file alone lacks what is still in the log.
    const run = Bun.spawnSync(["sqlite3", "-readonly", file, "pragma page_count; pragma page_size"]);
    const [pages = 0, bytes = 0] = run.stdout.toString().split("\n").map(Number);
    return pages * bytes;
  };
}

function sizeOfDatabase(postgres: PostgresServer, database: string): Size {
  return async () => {
    const tables = ["orders", "movements", "events", "kept_answers"].map(
      (name) => `pg_total_relation_size('${name}')`,
    );
    const [row] = await postgres.query(`select (${tables.join(" + ")})::text as bytes`, database);
    return Number(row?.bytes);
  };
}
