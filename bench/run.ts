// Requests per second beside the floor, in one run: npm run bench [-- --rounds 5 --seconds 3]
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readConfig } from "../src/config.ts";
import { KEY_BYTES } from "../src/core/key-format.ts";
import { perform } from "../src/core/perform.ts";
import { rulesOf } from "../src/core/rules.ts";
import { openStore } from "../src/store/sqlite/store.ts";
import { FIRST_CORE, load, type Measured, median } from "./load.ts";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    connections: { type: "string", default: "64" },
  },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const connections = Number(options.connections);
const PETS = 1000;

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly script: string;
}

const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
const processes: Bun.Subprocess[] = [];
try {
  const path = join(folder, "petstore.db");
  const key = await filled(path);
  const ours = await started(
    ["./petstore", "serve", "--port", "0"],
    { DATABASE_URL: path, LOG_LEVEL: process.env.LOG_LEVEL ?? "info" },
    /listening on (\S+)/,
  );
  const get = { script: randomGet(key), path: "/store/pets/1", method: "GET" };
  const post = { script: randomPost(key), path: "/store/orders", method: "POST" };

  console.log(
    `\n${cpus()[0]?.model}, Bun ${Bun.version}, ${connections} connections, ${rounds} rounds of ${seconds} s, server and load on a core each\n`,
  );
  for (const scenario of [get, post]) {
    const floor = await floorLike(ours, scenario.path, scenario.method, key);
    const contenders: Contender[] = [
      { name: "floor (bare Bun.serve)", url: floor, script: scenario.script },
      { name: `${scenario.method} ${scenario.path}`, url: ours, script: scenario.script },
    ];
    await compared(contenders);
  }
} finally {
  for (const each of processes) each.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

/** Interleaved rounds, so that what else the machine does hits all alike. */
async function compared(contenders: readonly Contender[]): Promise<void> {
  const measured = new Map<string, Measured[]>(contenders.map(({ name }) => [name, []]));
  for (const { url, script } of contenders) await load({ url, script, connections, seconds: 1 });
  for (let round = 0; round < rounds; round++) {
    for (const { name, url, script } of contenders)
      measured.get(name)?.push(await load({ url, script, connections, seconds }));
  }
  let floor: number | undefined;
  for (const [name, runs] of measured) {
    const rate = median(runs.map(({ requestsPerSecond }) => requestsPerSecond));
    const p99 = median(runs.map(({ p99Milliseconds }) => p99Milliseconds));
    const refused = runs.reduce((sum, run) => sum + run.refused, 0);
    floor ??= rate.middle;
    const ratio = (rate.middle / floor).toFixed(2);
    console.log(
      `${name.padEnd(28)} ${String(Math.round(rate.middle)).padStart(7)}/s  x${ratio}  p99 ${p99.middle.toFixed(1)} ms  spread ${(rate.spread * 100).toFixed(0)} %${refused > 0 ? `  REFUSED ${refused}` : ""}`,
    );
  }
  console.log();
}

/** A store with pets that never run out, and a key that may do everything. */
async function filled(path: string): Promise<string> {
  const { db, transact, close } = openStore(path, Date.now());
  const now = Date.now();
  const rules = rulesOf(readConfig({}));
  const { key } = await transact(async (store) => {
    const run = async (operation: string, input: unknown) => {
      const random = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
      const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
      return (await perform(store, { operation, caller, input, now, random }, rules)).body as {
        id: number;
        key: string;
      };
    };
    const quota = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
    const client = await run("admin.clients.create", {
      body: { name: "bench", plan: "enterprise", ...quota },
    });
    await store.addCategory({ name: "Dogs", description: "Loyal" }, now);
    for (let n = 1; n <= PETS; n++) {
      const stock = { status: "available", quantity: 2_000_000_000, openOrders: 0 } as const;
      await store.addPet({ name: `Pet ${n}`, categoryId: 1, ...stock }, now);
    }
    return run("admin.keys.create", { clientId: client.id, body: { role: "staff" } });
  });
  db.rows("pragma wal_checkpoint(truncate)");
  close();
  return key;
}

/** The floor with one real answer of ours as its constant. */
async function floorLike(ours: string, path: string, method: string, key: string): Promise<string> {
  const body = method === "POST" ? '{"petId":1,"quantity":1}' : undefined;
  const response = await fetch(ours + path, {
    method,
    ...(body && { body }),
    headers: { "x-api-key": key, "content-type": "application/json" },
  });
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => name !== "date" && name !== "content-length"),
  );
  return started(
    [
      process.execPath,
      "bench/floor.ts",
      String(response.status),
      await response.text(),
      JSON.stringify(headers),
    ],
    {},
    /(http:\S+)/,
  );
}

async function started(
  command: readonly string[],
  env: Record<string, string>,
  address: RegExp,
): Promise<string> {
  const child = Bun.spawn(["taskset", "-c", FIRST_CORE, ...command], {
    env: { ...process.env, ...env },
    stdout: Bun.file(join(folder, `${processes.length}.out`)),
    stderr: Bun.file(join(folder, `${processes.length}.err`)),
  });
  processes.push(child);
  const files = ["out", "err"].map((end) => join(folder, `${processes.length - 1}.${end}`));
  for (let wait = 0; wait < 200; wait++) {
    for (const file of files) {
      const found = address.exec(await Bun.file(file).text())?.[1];
      if (found) return found;
    }
    await Bun.sleep(50);
  }
  throw new Error(`${command.join(" ")} did not start.`);
}

function randomGet(key: string): string {
  return `
local headers = { ["X-API-Key"] = "${key}" }
request = function() return wrk.format("GET", "/store/pets/" .. math.random(${PETS}), headers) end`;
}

function randomPost(key: string): string {
  return `
local headers = { ["X-API-Key"] = "${key}", ["Content-Type"] = "application/json" }
request = function() return wrk.format("POST", "/store/orders", headers, '{"petId":' .. math.random(${PETS}) .. ',"quantity":1}') end`;
}
