// What limits cost: npm run bench:limits [-- --rounds 5 --seconds 3 --most 1000000]
import { join } from "node:path";
import { parseArgs } from "node:util";
import { memoryLimits } from "../src/limits/memory.ts";
import { type Contender, compared } from "./compare.ts";
import { addClients, filledStore, PETS } from "./seed.ts";
import { aBench } from "./servers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    connections: { type: "string", default: "64" },
    most: { type: "string", default: "1000000" },
  },
});
const pace = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
};
const sizes = [1, 1000, Number(values.most)];
/** How many of the known clients ask; the harder case, in which all of them do at random, is measured too. */
const SOME = 1000;

inProcess();

using bench = aBench();
const contenders: Contender[] = [];
for (const size of sizes) {
  const path = join(bench.folder, `${size}.db`);
  await filledStore(path);
  const keys = await addClients(path, size);
  const spent = await addClients(path, 1, 1);
  const [ours, unlimited] = await Promise.all([
    bench.start(["./petstore", "serve", "--port", "0"], {
      DATABASE_URL: path,
      BAN_STRIKES: "10000",
      BAN_GRACE_SECONDS: "3600",
    }),
    size === 1
      ? bench.start([process.execPath, "bench/unlimited.ts"], { DATABASE_URL: path, PORT: "0" })
      : undefined,
  ]);
  const few = asking(await keyFile(size, keys.slice(0, SOME), "some"));
  if (unlimited) contenders.push({ name: "without a limiter", url: unlimited.url, script: few });
  await everyClientOnce(ours.url, keys);
  contenders.push({
    name: `admitted, ${size} known, ${Math.min(size, SOME)} ask`,
    url: ours.url,
    script: few,
  });
  if (size > SOME) {
    const all = asking(await keyFile(size, keys));
    contenders.push({ name: `admitted, ${size} known, all ask`, url: ours.url, script: all });
  }
  const refused = asking(await keyFile(size, spent, "spent"));
  contenders.push({ name: `429, ${size} known`, url: ours.url, script: refused });
}
await compared(pace, contenders);

/** The limiter alone, in this process: time and memory for each number of clients. */
function inProcess(): void {
  const quota = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
  for (const size of sizes) {
    const bans = { strikes: 20, strikeWindowSeconds: 300, graceSeconds: 2, minutes: [5] };
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    const limits = memoryLimits({ bans, anonymous: quota, onBan: () => {}, tell: () => {} });
    const now = Date.now();
    for (let clientId = 1; clientId <= size; clientId++)
      limits.admit({ clientId, keyId: clientId, bannedUntil: null, ...quota }, now, false);
    limits.takeChanged(size);
    Bun.gc(true);
    const bytes = (process.memoryUsage.rss() - before) / size;
    const calls = 2_000_000;
    const started = performance.now();
    for (let n = 0; n < calls; n++) {
      const clientId = 1 + ((n * 7919) % size);
      limits.admit({ clientId, keyId: clientId, bannedUntil: null, ...quota }, now, false);
    }
    const nanoseconds = ((performance.now() - started) / calls) * 1e6;
    const memory = size >= 100_000 ? `${bytes.toFixed(0)} bytes a client` : "";
    console.log(
      `limiter alone, ${String(size).padStart(7)} known: ${nanoseconds.toFixed(0)} ns a request  ${memory}`,
    );
  }
  console.log();
}

async function keyFile(size: number, keys: readonly string[], name = "keys"): Promise<string> {
  const file = join(bench.folder, `${size}.${name}`);
  await Bun.write(file, keys.join("\n"));
  return file;
}

/** Requests of random pets with random keys of a file. */
function asking(file: string): string {
  return `
local keys = {}
for line in io.lines("${file}") do keys[#keys + 1] = line end
local headers = {}
request = function()
  headers["X-API-Key"] = keys[math.random(#keys)]
  return wrk.format("GET", "/store/pets/" .. math.random(${PETS}), headers)
end`;
}

/** Makes every client known to the server. */
async function everyClientOnce(url: string, keys: readonly string[]): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < keys.length) {
      const key = keys[next++] as string;
      await (await fetch(`${url}/account`, { headers: { "x-api-key": key } })).arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
}
