// Requests per second beside the floor, in one run: npm run bench [-- --rounds 5 --seconds 3]
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compared } from "./compare.ts";
import { filledStore, PETS } from "./seed.ts";
import { aBench } from "./servers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    connections: { type: "string", default: "64" },
  },
});
const pace = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
};

using bench = aBench();
const path = join(bench.folder, "petstore.db");
const key = await filledStore(path);
const { url: ours } = await bench.start(["./petstore", "serve", "--port", "0"], { DATABASE_URL: path });
console.log(
  `\n${cpus()[0]?.model}, Bun ${Bun.version}, ${JSON.stringify(pace)}, server and load on a core each\n`,
);
for (const scenario of [
  { method: "GET", path: "/store/pets/1", script: randomGet(key) },
  { method: "POST", path: "/store/orders", script: randomPost(key) },
]) {
  const floor = await floorLike(scenario.path, scenario.method);
  const { script } = scenario;
  await compared(pace, [
    { name: "floor (bare Bun.serve)", url: floor, script },
    { name: `${scenario.method} ${scenario.path}`, url: ours, script },
  ]);
}

/** The floor with one real answer of ours as its constant. */
async function floorLike(address: string, method: string): Promise<string> {
  const body = method === "POST" ? '{"petId":1,"quantity":1}' : undefined;
  const sent = { "x-api-key": key, "content-type": "application/json" };
  const response = await fetch(ours + address, { method, ...(body && { body }), headers: sent });
  const own = [...response.headers].filter(([name]) => name !== "date" && name !== "content-length");
  const constant = [String(response.status), await response.text(), JSON.stringify(Object.fromEntries(own))];
  return (await bench.start([process.execPath, "bench/floor.ts", ...constant], {})).url;
}

function randomGet(apiKey: string): string {
  return `
local headers = { ["X-API-Key"] = "${apiKey}" }
request = function() return wrk.format("GET", "/store/pets/" .. math.random(${PETS}), headers) end`;
}

function randomPost(apiKey: string): string {
  return `
local headers = { ["X-API-Key"] = "${apiKey}", ["Content-Type"] = "application/json" }
request = function() return wrk.format("POST", "/store/orders", headers, '{"petId":' .. math.random(${PETS}) .. ',"quantity":1}') end`;
}
