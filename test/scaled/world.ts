// Three servers as an operator runs them: processes behind nginx, on one PostgreSQL that syncs to disk and one Valkey.
import { adminKey, aFolder, eventually, petstore, serving } from "../cli/command.ts";
import { aNginx, type Nginx } from "../servers/nginx.ts";
import { aFreePort } from "../servers/port.ts";
import { aPostgres, type PostgresServer } from "../servers/postgres.ts";
import { aValkey, type ValkeyServer } from "../servers/valkey.ts";
import { type Heartbeat, heartbeat } from "./heartbeat.ts";

const READY_WITHIN_MS = 15_000;
/** More than any load of ours asks for, so that a refusal is never the plan's. */
const PLENTY = { plan: "enterprise", perMinute: 100_000_000, perDay: 100_000_000 };

export interface Instance {
  readonly url: string;
  /** All that it wrote so far, over all its starts. */
  logged(): string;
  /** Stopped as an operator would and started again at the same address; its exit code. */
  restart(): Promise<number>;
  /** Ended in the middle of whatever it does, and started again. */
  crash(): Promise<void>;
}

export interface NewKey {
  readonly id: number;
  readonly key: string;
  readonly clientId: number;
}

export interface World extends AsyncDisposable {
  readonly postgres: PostgresServer;
  readonly valkey: ValkeyServer;
  readonly nginx: Nginx;
  readonly instances: readonly Instance[];
  /** Of every instance, without nginx in between. */
  readonly urls: readonly string[];
  readonly heartbeat: Heartbeat;
  /** A staff key with plenty of requests, and the operator's own. */
  readonly staff: string;
  readonly admin: string;
  /** A command beside the servers; what it printed. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  command(...words: string[]): Promise<any>;
  /** A staff key of a new client, on the free plan by default. */
  newKey(plan?: Readonly<Record<string, unknown>>): Promise<NewKey>;
  /** The rows of a question to the database. */
  rows(text: string): Promise<Record<string, unknown>[]>;
}

export async function aWorld(count = 3): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(aFolder());
  const [postgres, valkey] = await Promise.all([aPostgres({ fsync: true }), aValkey()]);
  stack.use(postgres);
  stack.use(valkey);
  const database = await postgres.newDatabase();
  const url = postgres.url(database);
  const env = {
    VALKEY_URL: valkey.url,
    LOG_LEVEL: "warn",
    TRUST_PROXY: "1",
    SHUTDOWN_DRAIN_SECONDS: "1",
    // Loads run into their limits over and over; nobody is to be banned for it.
    BAN_STRIKES: "10000",
    ANONYMOUS_PER_MINUTE: "1000000",
    ANONYMOUS_PER_DAY: "1000000",
  };
  const started: (Instance & AsyncDisposable)[] = [];
  for (let n = 0; n < count; n++)
    started.push(stack.use(await anInstance({ database: url, in: folder.path, env })));
  const urls = started.map((each) => each.url);
  const nginx = stack.use(await aNginx(urls));
  const command: World["command"] = async (...words) => {
    const { code, stdout, stderr } = await petstore([...words, "--json"], { env: { DATABASE_URL: url } });
    if (code !== 0) throw new Error(`petstore ${words.join(" ")} ended with ${code}: ${stdout}${stderr}`);
    return JSON.parse(stdout);
  };
  const admin = adminKey(folder);
  const newKey: World["newKey"] = async (plan = { plan: "free" }) => {
    const client = await asked(`${urls[0]}/admin/clients`, admin, "POST", { name: "Shop", ...plan });
    const { id: clientId } = (await client.json()) as { id: number };
    const made = await asked(`${urls[0]}/admin/clients/${clientId}/keys`, admin, "POST", { role: "staff" });
    return { ...((await made.json()) as { id: number; key: string }), clientId };
  };
  const staff = await newKey(PLENTY);
  const beat = stack.use(await heartbeat());
  const all = stack.move();
  return {
    postgres,
    valkey,
    nginx,
    instances: started,
    urls,
    heartbeat: beat,
    staff: staff.key,
    admin,
    command,
    newKey,
    rows: (text) => postgres.query(text, database),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Sends a request with a key. */
export function asked(url: string, key: string, method = "GET", body?: unknown): Promise<Response> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  return fetch(url, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

/** Whether an instance says of itself that it is ready. */
export async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).status === 200;
  } catch {
    return false;
  }
}

async function anInstance(asked: {
  database: string;
  in: string;
  env: Record<string, string>;
}): Promise<Instance & AsyncDisposable> {
  const again = { ...asked, env: { ...asked.env, PORT: String(aFreePort()) } };
  let running = await serving(again);
  const { url } = running;
  let before = "";
  const start = async () => {
    before += running.stdout() + running.stderr();
    running = await serving(again);
    if (!(await eventually(() => isReady(url), READY_WITHIN_MS))) throw new Error(`${url} is not ready`);
  };
  return {
    url,
    logged: () => before + running.stdout() + running.stderr(),
    async restart() {
      const code = await running.end("SIGTERM");
      await start();
      return code;
    },
    async crash() {
      await running.end("SIGKILL");
      await start();
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}
