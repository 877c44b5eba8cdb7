import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { SERVER_CORE } from "./wrk.ts";

const START_MS = 30_000;
const root = join(import.meta.dir, "..");

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Where its rows are, if it has any. */
  readonly database: string | undefined;
  /** Resident memory in MiB, and what of it is not mapped from a file. */
  memory(): Memory;
  /** Time of the processor so far, in all its threads. */
  cpuMicroseconds(): number;
  stop(): Promise<void>;
}

export interface Memory {
  readonly resident: number;
  readonly own: number;
}

export interface Start {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where its rows are, if it has any. */
  readonly database?: string;
  /** Where it will listen, for a server that does not say so on its standard error. */
  readonly url?: string;
}

/** Starts servers on the first core, and ends all of them. */
export interface Servers extends AsyncDisposable {
  start(start: Start): Promise<Server>;
}

export function servers(): Servers {
  const running = new Set<Server>();
  let isOver = false;
  return {
    async start(start) {
      if (isOver) throw new Error("Its scenario was ended.");
      const server = await started(start, () => running.delete(server));
      running.add(server);
      return server;
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await Promise.all([...running].map((server) => server.stop()));
    },
  };
}

async function started({ command, env, database, url }: Start, onStop: () => void): Promise<Server> {
  const child = Bun.spawn(["taskset", "-c", SERVER_CORE, ...command], {
    cwd: root,
    env: { ...process.env, NODE_ENV: "production", ...env, ...(database && { DATABASE_URL: database }) },
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = { text: "" };
  const told = follow(child.stderr, said);
  const at = url ? answering(url) : told;
  const failed = Promise.race([child.exited, Bun.sleep(START_MS)]).then(() => undefined);
  const address = await Promise.race([at, failed]);
  if (!address) {
    child.kill("SIGKILL");
    throw new Error(`${command.join(" ")} did not start: ${said.text.slice(0, 2000)}`);
  }
  return {
    url: address,
    pid: child.pid,
    database,
    memory: () => memoryOf(child.pid),
    cpuMicroseconds: () => cpuMicroseconds(child.pid),
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
      await child.exited;
      clearTimeout(timer);
      onStop();
    },
  };
}

/** Reads on to the end, so that the server never waits for us; gives the first address in it. */
function follow(stream: ReadableStream<Uint8Array>, said: { text: string }): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const read = async () => {
    for await (const chunk of stream) {
      if (said.text.length > 100_000) continue;
      said.text += new TextDecoder().decode(chunk);
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said.text)?.[0];
      if (url) resolve(url);
    }
  };
  read();
  return promise;
}

async function answering(url: string): Promise<string> {
  for (;;) {
    try {
      await (await fetch(url)).arrayBuffer();
      return url;
    } catch {
      await Bun.sleep(20);
    }
  }
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mebibytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  return { resident: mebibytes("VmRSS"), own: mebibytes("RssAnon") };
}

/** The kernel counts in hundredths of a second. */
const TICK_MICROSECONDS = 10_000;

function cpuMicroseconds(pid: number): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1] ?? "";
  const [user, system] = afterName.split(" ").slice(11, 13).map(Number) as [number, number];
  return (user + system) * TICK_MICROSECONDS;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
