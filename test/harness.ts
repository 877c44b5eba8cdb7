import { type Config, readConfig } from "../src/config.ts";
import type { Quota } from "../src/contract/plans.ts";
import type { Role } from "../src/contract/route.ts";
import { KEY_BYTES } from "../src/core/key-format.ts";
import { perform } from "../src/core/perform.ts";
import { rulesOf } from "../src/core/rules.ts";
import { openLog } from "../src/http/log.ts";
import { start } from "../src/main.ts";
import type { Resolve } from "../src/worker/send.ts";
import { aDatabase, type Beside } from "./beside.ts";
import { holdAgainstContract } from "./held.ts";
import { overPlainHttp } from "./plain-http.ts";
import { throughClient } from "./through-client.ts";

/** Sunday, 15 November 2026, 12:00 UTC: where every test's clock starts. */
export const NOON = Date.parse("2026-11-15T12:00:00Z");

/** More than any test asks for in the one minute in which its clock stands. */
const PLENTY: Quota = { perMinute: 1_000_000, perDay: 100_000_000 };

/** Whom nobody reaches is disabled by the deliverer, at a time of its own. */
const UNREACHABLE = "('gone', 'failing')";
const isOfUnreachable = `type = 'webhook.disabled' and data not like '%"reason":"operator"%'`;

/** What only operations write; what is counted is written behind, at a time of its own. */
const kept = [
  "* from pets",
  "* from categories",
  "* from orders",
  "* from movements",
  "* from closed_ledgers",
  `* from events where type not in ('quota.warning', 'key.strike_warning') and not (${isOfUnreachable})`,
  "* from kept_answers",
  "* from clients",
  "id, client_id, role, name, hash, last_four, created_at, expires_at, revoked_at from api_keys",
  "* from bans",
  "* from audit",
  `id, client_id, key_id, role, url, types, description, disabled_by_operator,
    case when disabled_reason in ${UNREACHABLE} then null else disabled_reason end from webhooks`,
  "id, webhook_id, message_id, body, cause from webhook_deliveries where cause in ('ping', 'resend')",
];

/** Every write through the client has such a key; only a test's own is the test's business. */
const CLIENTS_OWN_KEY = /^[0-9a-f]{32}$/;

const VALKEY_PATIENCE_MS = 5000;

interface MadeKey {
  readonly id: number;
  readonly clientId: number;
  readonly key: string;
}

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  readonly body: any;
  readonly text: string;
  readonly headers: Headers;
}

export interface Sent {
  readonly body?: unknown;
  /** Sent as it is, where a test wants more than JSON can say. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** One key's view of the API. Each reply is held against the contract. */
export interface Person {
  readonly key: string;
  readonly clientId: number;
  readonly keyId: number;
  send(method: string, path: string, sent?: Sent): Promise<Reply>;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  put(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  delete(path: string, headers?: Record<string, string>): Promise<Reply>;
}

interface StoredEvent {
  readonly type: string;
  readonly subject: string;
  readonly clientId: number | null;
  readonly data: Record<string, unknown>;
}

export interface TestStore extends AsyncDisposable {
  readonly url: string;
  /** Where the figures are without a key, if `METRICS_PORT` says so. */
  readonly metricsUrl: string | null;
  readonly config: Config;
  readonly clock: { now: number };
  readonly admin: Person;
  readonly staff: Person;
  /** A customer, and another of another client. */
  readonly customer: Person;
  readonly stranger: Person;
  /** Nobody: requests without a key. */
  readonly nobody: Person;
  /** Everything that was logged. */
  readonly logged: () => string;
  /** A second connection to the same database, beside the server. */
  readonly beside: Beside;
  newPerson(role: Role, options?: { clientId?: number; expiresAt?: number; quota?: Quota }): Promise<Person>;
  /** Every event so far, oldest first. */
  events(): Promise<StoredEvent[]>;
  /** Everything that is stored, to prove that a refusal changed nothing. */
  snapshot(): Promise<string>;
  /** A category, and a pet of it with this stock. */
  aPet(quantity?: number, name?: string): Promise<{ id: number; categoryId: number }>;
  findings(): Promise<readonly unknown[]>;
  /** Stops the server as a signal would and starts it again, over the same database and at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** No name leads anywhere: no test depends on what a network says. */
const nowhere: Resolve = async () => [];

/** A real server on a free port, over a new database of the run's engine, with a clock moved by hand. */
export async function aStore(env: Record<string, string> = {}, resolve = nowhere): Promise<TestStore> {
  const database = await aDatabase();
  const config = readConfig({
    DATABASE_URL: database.url,
    PORT: "0",
    LOG_LEVEL: "info",
    ...sharedLimits(),
    ...env,
  });
  const clock = { now: NOON };
  const beside = await database.open(clock.now);
  let logged = "";
  const log = openLog(
    config.logLevel,
    false,
    (text) => {
      logged += text;
    },
    () => clock.now,
  );
  // In the one Valkey of all tests nothing is an outage, however busy the machine is; tests of outages bring their own.
  const valkeyTimeoutMs = env.VALKEY_URL === undefined ? VALKEY_PATIENCE_MS : undefined;
  const surroundings = { clock: () => clock.now, isClockMoved: true, valkeyTimeoutMs, log, resolve };
  let running = await start(config, surroundings);
  const { url, metricsUrl } = running;

  const newPerson: TestStore["newPerson"] = async (role, { clientId, expiresAt, quota = PLENTY } = {}) => {
    const now = clock.now;
    const record = await beside.transact(async (store) => {
      const run = async (operation: string, input: unknown) => {
        const random = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
        const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
        return (await perform(store, { operation, caller, input, now, random }, rulesOf(config)))
          .body as MadeKey;
      };
      const client = { name: `client of a ${role}`, plan: "enterprise", ...quota };
      const owner = clientId ?? (await run("admin.clients.create", { body: client })).id;
      const made = await run("admin.keys.create", { clientId: owner, body: { role } });
      if (expiresAt !== undefined) await store.expireKey(made.id, expiresAt);
      return made;
    });
    return person(url, record);
  };
  const admin = await newPerson("admin");
  const staff = await newPerson("staff");
  const stopped = Promise.withResolvers<void>();
  let isStopping = false;
  let seen = { version: "", text: "" };

  const store: TestStore = {
    url,
    metricsUrl,
    config,
    clock,
    admin,
    staff,
    customer: await newPerson("customer"),
    stranger: await newPerson("customer"),
    nobody: person(url, { key: "", clientId: 0, id: 0 }),
    beside,
    newPerson,
    logged: () => {
      log.flush();
      return logged;
    },
    async events() {
      const rows = await beside.db.rows(
        'select type, subject, client_id as "clientId", data from events order by id',
      );
      return rows.map((row) => ({ ...row, data: JSON.parse(String(row.data)) }) as StoredEvent);
    },
    async snapshot() {
      const version = await beside.db.version();
      if (version !== seen.version) seen = { version, text: await everythingKept(beside) };
      return seen.text;
    },
    async aPet(quantity = 1, name = "Rex") {
      const category = await staff.post("/categories", { name: "Dogs" });
      const pet = await staff.post("/pets", { name, categoryId: category.body.id });
      if (quantity !== 1) await staff.put(`/store/inventory/${pet.body.id}`, { quantity });
      return pet.body;
    },
    findings: async () => (await beside.diagnose()).findings,
    async restart() {
      await running.stop();
      running = await start({ ...config, port: Number(new URL(url).port) }, surroundings);
    },
    async stop() {
      if (isStopping) return stopped.promise;
      isStopping = true;
      await running.stop();
      await beside.close();
      await database.remove();
      stopped.resolve();
    },
    [Symbol.asyncDispose]: () => store.stop(),
  };
  return store;
}

async function everythingKept({ db }: Beside): Promise<string> {
  const tables = await Promise.all(kept.map((columns) => db.rows(`select ${columns} order by 1, 2`)));
  return JSON.stringify(tables.map((rows) => rows.filter(({ key }) => !CLIENTS_OWN_KEY.test(String(key)))));
}

/** With TEST_VALKEY_URL every store keeps its limits there, under a prefix of its own. */
function sharedLimits(): Record<string, string> {
  const url = process.env.TEST_VALKEY_URL;
  return url ? { VALKEY_URL: url, VALKEY_PREFIX: `test-${crypto.randomUUID()}:` } : {};
}

function person(url: string, { key, clientId, id }: { key: string; clientId: number; id: number }): Person {
  const send: Person["send"] = async (method, path, { body, raw, headers = {} } = {}) => {
    const words = { url, key, method, path, body, headers };
    const spoken = raw === undefined ? await throughClient(words) : null;
    const { status, headers: answered, text } = spoken ?? (await overPlainHttp({ ...words, raw }));
    const reply: Reply = { status, headers: answered, text, body: jsonOf(text, answered) };
    holdAgainstContract(method, path, reply);
    return reply;
  };
  return {
    key,
    clientId,
    keyId: id,
    send,
    get: (path, headers = {}) => send("GET", path, { headers }),
    post: (path, body, headers = {}) => send("POST", path, { body, headers }),
    put: (path, body, headers = {}) => send("PUT", path, { body, headers }),
    patch: (path, body, headers = {}) => send("PATCH", path, { body, headers }),
    delete: (path, headers = {}) => send("DELETE", path, { headers }),
  };
}

function jsonOf(text: string, headers: Headers): unknown {
  return text !== "" && headers.get("content-type")?.startsWith("application/json")
    ? JSON.parse(text)
    : undefined;
}

/** Sends what is to be refused, proves that it left nothing behind, and gives the Error. */
export async function refused(store: TestStore, send: () => Promise<Reply>): Promise<Reply["body"]> {
  const before = await store.snapshot();
  const { status, text, body } = await send();
  if (status < 400) throw new Error(`Answered ${status} where a refusal was expected: ${text}`);
  if ((await store.snapshot()) !== before)
    throw new Error(`Refused with ${status}, but changed the store: ${text}`);
  return body;
}

/** Every page of a list, one `next` link after another. */
export async function pagesOf(person: Person, path: string): Promise<Reply["body"][]> {
  const pages: Reply["body"][] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { status, text, body, headers } = await person.get(next);
    if (status !== 200) throw new Error(`${next.slice(0, 200)} answered ${status}: ${text}`);
    pages.push(body);
    next = nextOf(headers);
  }
  return pages;
}

/** The address of the next page, if there is one. */
export function nextOf(headers: Headers): string | undefined {
  return /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
}
