// PostgreSQL for the tests: found or installed, with a cluster of its own in a temporary folder, and troubles at will.
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { needed } from "../tools.ts";
import { aFreePort } from "./port.ts";

const PROGRAMS = "/usr/lib/postgresql/15/bin";
const USER = "postgres";
/** The database that new stores are copies of. */
const TEMPLATE = "petstore_template";
const NO_SUCH_DATABASE = "3D000";
/** Where a run finds the server that was started for all of it. */
export const SHARED_POSTGRES = "TEST_POSTGRES_URL";

/** Where the files of one process find theirs: nothing else is left of one file when the runner comes to the next. */
const NOTE = join(tmpdir(), `petstore-postgres-of-${process.pid}`);

/** What can be asked of a server wherever it runs. */
export interface ReachedPostgres {
  /** The address of one of its databases. */
  url(database: string): string;
  /** A new database: empty, or a copy of one that has no connections; its name. */
  newDatabase(template?: string): Promise<string>;
  /** A new database with our tables in it, in milliseconds; its address. */
  newStore(): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  /** Runs statements as the superuser, in the database `postgres` if no other is named. */
  query(text: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Ends all connections but its own, of one database or of all; how many there were. */
  terminateBackends(database?: string): Promise<number>;
}

export interface PostgresServer extends ReachedPostgres, AsyncDisposable {
  readonly port: number;
  /** Where it is, without a database. */
  readonly address: string;
  /** `fast` ends all transactions and connections, `immediate` is a crash. */
  stop(mode?: StopMode): Promise<void>;
  /** At the same port, over the same data. */
  start(): Promise<void>;
  restart(mode?: StopMode): Promise<void>;
  /** Every process of it stands still: connections are open, and nothing answers. */
  stall(): void;
  resume(): void;
}

type StopMode = "fast" | "immediate";

export interface PostgresOptions {
  /** Whether a commit waits for the disk; tests that do not ask for it are quicker without. */
  readonly fsync?: boolean;
  readonly settings?: Readonly<Record<string, string | number>>;
}

/** Makes a cluster in a temporary folder and starts a server on a free port of the loopback. */
export async function aPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  if (!existsSync(`${PROGRAMS}/postgres`)) await needed(`${PROGRAMS}/postgres`, "postgresql-15");
  const folder = mkdtempSync(join(tmpdir(), "petstore-postgres-"));
  const data = join(folder, "data");
  givenToServer(folder);
  await run("initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N");
  const port = aFreePort();
  const flags = Object.entries(settingsOf(folder, port, options)).map(
    ([name, value]) => `-c ${name}=${value}`,
  );
  const isRunning = () => existsSync(join(data, "postmaster.pid"));
  const address = `postgres://${USER}@127.0.0.1:${port}`;
  const server: PostgresServer = {
    ...reached(address),
    port,
    address,
    start: () =>
      run("pg_ctl", "-D", data, "-w", "-s", "-l", join(folder, "log"), "-o", flags.join(" "), "start"),
    async stop(mode = "fast") {
      if (!isRunning()) return;
      server.resume();
      await run("pg_ctl", "-D", data, "-w", "-s", "-m", mode, "stop");
    },
    async restart(mode) {
      await server.stop(mode);
      await server.start();
    },
    stall: () => signalAll(data, "SIGSTOP"),
    resume: () => signalAll(data, "SIGCONT"),
    async [Symbol.asyncDispose]() {
      await server.stop("immediate");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  endWithThisProcess(folder, asOwner("pg_ctl", "-D", data, "-s", "-m", "immediate", "stop"));
  await server.start();
  return server;
}

/** The server of a whole run: the one that its environment names, or one that ends with this process. */
export async function sharedPostgres(): Promise<ReachedPostgres> {
  const known = process.env[SHARED_POSTGRES] ?? (existsSync(NOTE) ? readFileSync(NOTE, "utf8") : undefined);
  if (known) return reached(known);
  const server = await aPostgres();
  writeFileSync(NOTE, server.address);
  return server;
}

function reached(address: string): ReachedPostgres {
  const server: ReachedPostgres = {
    url: (database) => `${address}/${database}`,
    async query(text, database = "postgres") {
      const sql = new SQL(server.url(database), { max: 1 });
      try {
        return [...(await sql.unsafe(text))];
      } finally {
        await sql.close();
      }
    },
    async newDatabase(template = "template0") {
      const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
      await server.query(`create database ${name} template ${template}`);
      return name;
    },
    async newStore() {
      try {
        return server.url(await server.newDatabase(TEMPLATE));
      } catch (error) {
        if ((error as { errno?: string }).errno !== NO_SUCH_DATABASE) throw error;
      }
      const making = await server.newDatabase();
      await (await openPostgresStore(server.url(making), 0)).close();
      // Whoever was first has made it.
      await server.query(`alter database ${making} rename to ${TEMPLATE}`).catch(() => {});
      return server.newStore();
    },
    dropDatabase: async (name) => void (await server.query(`drop database if exists ${name} with (force)`)),
    async terminateBackends(database) {
      const ofIt = database === undefined ? "" : ` and datname = '${database}'`;
      const ended = await server.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()${ofIt}`,
      );
      return ended.length;
    },
  };
  return server;
}

function settingsOf(folder: string, port: number, { fsync = false, settings = {} }: PostgresOptions) {
  const durable = fsync ? "on" : "off";
  return {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    max_connections: 300,
    fsync: durable,
    synchronous_commit: durable,
    full_page_writes: durable,
    // A test's rows are looked at before they could be worth a vacuum.
    autovacuum: "off",
    ...settings,
  };
}

/** However this process ends, the server ends within a second: a run that is killed leaves nothing behind. */
function endWithThisProcess(folder: string, stop: readonly string[]): void {
  const isAlive = `kill -0 ${process.pid} 2>/dev/null`;
  const watch = `while ${isAlive} && [ -d ${folder} ]; do sleep 0.5; done`;
  const end = `[ -d ${folder} ] && cd / && ${stop.join(" ")}; rm -rf ${folder}; ${isAlive} || rm -f ${NOTE}`;
  // No child of ours: the runner ends those with each file of tests.
  Bun.spawnSync(["sh", "-c", `setsid sh -c '${watch}; ${end}' >/dev/null 2>&1 </dev/null &`]);
}

const isRoot = process.getuid?.() === 0;

/** PostgreSQL refuses to run as root. */
function asOwner(program: string, ...words: string[]): string[] {
  const drop = ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--init-groups"];
  return [...(isRoot ? drop : []), `${PROGRAMS}/${program}`, ...words];
}

async function run(program: string, ...words: string[]): Promise<void> {
  const child = Bun.spawn(asOwner(program, ...words), {
    cwd: tmpdir(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = program === "pg_ctl" ? "" : await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${program} ${words.join(" ")} failed: ${said}`);
}

/** Makes a file or folder the server's own: it reads a key that is no one else's only. */
export function givenToServer(path: string): void {
  if (isRoot) chownSync(path, idOf("-u"), idOf("-g"));
}

function idOf(flag: "-u" | "-g"): number {
  return Number(Bun.spawnSync(["id", flag, USER]).stdout.toString());
}

/** The server and all its children: each connection is a process of its own. */
function signalAll(data: string, signal: NodeJS.Signals): void {
  const main = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  // First, and waited for: it may be giving birth to one.
  signalOne(main, signal);
  while (signal === "SIGSTOP" && statOf(main)[0] !== "T") Bun.sleepSync(1);
  for (const pid of childrenOf(main)) signalOne(pid, signal);
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself meanwhile.
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number {
  return Number(statOf(pid)[1]);
}

/** State and parent of a process; one that has gone stands still and is nobody's. */
function statOf(pid: number): string[] {
  try {
    // They follow the name, which is in parentheses and may hold spaces.
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  } catch {
    return ["T", "0"];
  }
}
