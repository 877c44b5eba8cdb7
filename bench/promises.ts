// What is promised and cannot be seen in an answer, by servers of their own: a log line for each, and a sync before an order's answer.

import { ok } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { asking } from "./ask.ts";
import { type Contender, startContender } from "./contenders.ts";
import type { Filled } from "./fill.ts";
import { unknownKeys } from "./known.ts";
import { type Server, servers } from "./servers.ts";

const ORDERS_FOR_SYNCS = 20;
/** More than wait in memory for their writing, so that at least half of them are in the file. */
const LOGGED_REQUESTS = 1000;

/** A line for every request, refused or not. */
export async function checkLog(contender: Contender, store: Filled, folder: string): Promise<void> {
  await using own = servers();
  const file = join(folder, `${contender.name}.log`);
  const { url } = await startContender(own, contender, store.path, [
    "sh",
    "-c",
    'log="$0"; exec "$@" > "$log"',
    file,
  ]);
  const ask = asking(url, store.key);
  const [unknownKey] = unknownKeys(1) as [string];
  await ask("/store/pets/1", { key: unknownKey });
  await ask("/store/orders", { post: { petId: 7, quantity: 1 } });
  for (let n = 0; n < LOGGED_REQUESTS; n++) await ask("/store/pets/1");
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  const seen = lines.flatMap((line) => {
    const { message, requestId, path, method, status, milliseconds, time } = JSON.parse(line);
    if (message !== "request") return [];
    ok(requestId && path && milliseconds > 0 && time, `${contender.name} logs ${line}`);
    return `${method} ${status}`;
  });
  for (const wanted of ["GET 401", "POST 201", "GET 200"])
    ok(seen.includes(wanted), `${contender.name} does not log a ${wanted}`);
  ok(
    seen.length >= LOGGED_REQUESTS / 2,
    `${contender.name} logs ${seen.length} of ${LOGGED_REQUESTS} requests`,
  );
}

const watchingSyncs = ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync"];

/** The same promise of durability, as far as it can be counted: orders one after another cost at least as many syncs. */
export async function checkSyncs(contender: Contender, store: Filled, folder: string): Promise<void> {
  await using own = servers();
  const trace = join(folder, `${contender.name}.syncs`);
  const watched = [...watchingSyncs, "-D", "--seccomp-bpf", "-o", trace];
  const server = await startContender(own, contender, store.path, watched);
  await requireSyncs(contender, server, store, trace);
}

/** The same where another process keeps the data: the connections that it takes from now on are watched. */
export async function checkSyncsOf(
  keeper: number,
  contender: Contender,
  store: Filled,
  folder: string,
): Promise<void> {
  await using own = servers();
  const trace = join(folder, `${contender.name}.syncs`);
  const watcher = Bun.spawn([...watchingSyncs, "-p", String(keeper), "-o", trace], { stderr: "inherit" });
  try {
    while (!isWatched(keeper)) await Bun.sleep(10);
    await requireSyncs(contender, await startContender(own, contender, store.path), store, trace);
  } finally {
    watcher.kill();
    await watcher.exited;
  }
}

function isWatched(pid: number): boolean {
  return /TracerPid:\s+[1-9]/.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

async function requireSyncs(
  { name }: Contender,
  { url }: Server,
  { key }: Filled,
  trace: string,
): Promise<void> {
  const syncs = () =>
    readFileSync(trace, "utf8")
      .split("\n")
      .filter((line) => /sync\(.*= 0$|sync resumed/.test(line)).length;
  const ask = asking(url, key);
  const before = syncs();
  for (let n = 0; n < ORDERS_FOR_SYNCS; n++) await ask("/store/orders", { post: { petId: 7, quantity: 1 } });
  const done = syncs() - before;
  if (done < ORDERS_FOR_SYNCS)
    throw new Error(`${name} answered ${ORDERS_FOR_SYNCS} orders with ${done} syncs of the disk.`);
}
