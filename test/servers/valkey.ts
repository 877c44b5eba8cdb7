// A real Valkey (or Redis) for the tests: found on the machine or installed, on a free port, in a folder of its own.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { eventually } from "../cli/command.ts";
import { needed } from "../tools.ts";
import { aFreePort } from "./port.ts";

const STARTS_WITHIN_MS = 10_000;

export interface ValkeyServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Ends it as an operator would: what is in memory is on disk. */
  stop(): Promise<void>;
  /** Ends it in the middle of whatever it does. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and over the same files. */
  restart(): Promise<void>;
  /** It keeps its connections and answers nothing. */
  stall(): void;
  goOn(): void;
  /** A connection for the test itself, beside those of the limits. */
  readonly client: () => Redis;
}

const STOPPED_WITHIN_MS = 2000;

export interface ValkeyOptions {
  /** A free one by default. */
  readonly port?: number;
  readonly password?: string;
  /** Makes it a node of a cluster, with this port for the others: by itself it would take one that the system lends to whoever connects. */
  readonly bus?: number;
  /** More settings, as arguments of the program. */
  readonly settings?: readonly string[];
}

/** Starts a server that keeps what it is told (AOF) and evicts nothing. */
export async function aValkey({
  port = aFreePort(),
  password,
  bus,
  settings = [],
}: ValkeyOptions = {}): Promise<ValkeyServer> {
  const program = await valkeyProgram();
  const folder = mkdtempSync(join(tmpdir(), "petstore-valkey-"));
  const url = `redis://${password === undefined ? "" : `:${password}@`}127.0.0.1:${port}`;
  const command = [
    program,
    ...["--port", String(port), "--bind", "127.0.0.1", "--dir", folder],
    ...["--appendonly", "yes", "--appendfsync", "everysec", "--maxmemory-policy", "noeviction"],
    // The log of all changes is what survives; snapshots beside it only cost time.
    ...["--save", "", "--loglevel", "warning"],
    ...(password === undefined ? [] : ["--requirepass", password, "--masterauth", password]),
    ...(bus === undefined ? [] : ["--cluster-enabled", "yes", "--cluster-port", String(bus)]),
    ...settings,
  ];
  let running: Bun.Subprocess | undefined;
  let client: Redis | undefined;

  const start = async () => {
    running = Bun.spawn(command, { stdio: ["ignore", "ignore", "ignore"] });
    const isUp = await eventually(
      async () => running?.exitCode !== null || (await answers(port)),
      STARTS_WITHIN_MS,
    );
    if (isUp && running.exitCode === null) return;
    await end("SIGKILL");
    throw new Error(`${command.join(" ")} did not start.`);
  };
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    client?.disconnect();
    client = undefined;
    running?.kill("SIGCONT");
    running?.kill(signal);
    await running?.exited;
  };

  await start();
  return {
    url,
    port,
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    restart: start,
    stall() {
      running?.kill("SIGSTOP");
      if (running) standsStill(running.pid);
    },
    goOn: () => running?.kill("SIGCONT"),
    client: () => {
      client ??= new Redis(url, { maxRetriesPerRequest: 1 }).on("error", () => {});
      return client;
    },
    async [Symbol.asyncDispose]() {
      await end("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until a process has stopped: until then it may answer what comes right after the signal. */
function standsStill(pid: number): void {
  for (const until = performance.now() + STOPPED_WITHIN_MS; ; Bun.sleepSync(1)) {
    const [state] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? "";
    if (state === "T") return;
    if (performance.now() > until) throw new Error(`Process ${pid} did not stop; its state is ${state}.`);
  }
}

/** The server's program: Valkey's if there is one, else Redis'; installed if there is neither. */
export async function valkeyProgram(): Promise<string> {
  const found = Bun.which("valkey-server") ?? Bun.which("redis-server");
  if (found) return found;
  await needed("redis-server");
  return Bun.which("redis-server") as string;
}

async function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open: (open) => void open.write("PING\r\n"),
      // One that wants a password is up, one that still loads its files is not.
      data: (_, data) => resolve(/^(\+PONG|-NOAUTH)/.test(data.toString())),
      close: () => resolve(false),
      error: () => resolve(false),
    },
  }).catch(() => null);
  if (!socket) return false;
  const isUp = await promise;
  socket.end();
  return isUp;
}
