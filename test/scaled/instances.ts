// Several servers over one PostgreSQL database, as behind a load balancer.
import { readConfig } from "../../src/config.ts";
import { operator } from "../../src/core/clients.ts";
import { KEY_BYTES } from "../../src/core/key-format.ts";
import { perform } from "../../src/core/perform.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { openLog } from "../../src/http/log.ts";
import { start } from "../../src/main.ts";
import type { OpenedStore } from "../../src/store/engine.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { type ReachedPostgres, sharedPostgres } from "../servers/postgres.ts";

export interface Instances extends AsyncDisposable {
  readonly server: ReachedPostgres;
  readonly database: string;
  readonly urls: readonly string[];
  /** Where the figures of each are, if `METRICS_PORT` says so. */
  readonly metricsUrls: readonly (string | null)[];
  /** A key of the operator's own client. */
  readonly key: string;
  /** The store, beside the instances. */
  readonly beside: OpenedStore;
  /** Stops all of them; they answer on while they drain. */
  stop(): Promise<unknown>;
  /** Sends to one instance after another, as a load balancer would. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** So many instances in this process, each with connections of its own, through a door if there is one. */
export async function instances(
  count: number,
  env: Record<string, string> = {},
  door?: { readonly port: number },
): Promise<Instances> {
  const server = await sharedPostgres();
  const url = await server.newStore();
  const reached = new URL(url);
  if (door) reached.port = String(door.port);
  const config = readConfig({ DATABASE_URL: reached.href, PORT: "0", LOG_LEVEL: "warn", ...env });
  const beside = await openPostgresStore(url, Date.now());
  const log = openLog(config.logLevel, false, () => {}, Date.now);
  const running = await Promise.all(
    Array.from({ length: count }, () => start(config, { clock: Date.now, log })),
  );
  const urls = running.map((each) => each.url);
  const key = await beside.transact(async (store) => {
    const { id: clientId } = await operator(store, Date.now());
    const command = {
      operation: "admin.keys.create",
      caller: { clientId, keyId: 0, role: "admin" } as const,
      input: { clientId, body: { role: "admin" } },
      now: Date.now(),
      random: crypto.getRandomValues(new Uint8Array(KEY_BYTES)),
    };
    return ((await perform(store, command, rulesOf(config))).body as { key: string }).key;
  });
  let next = 0;
  let stopped: Promise<unknown> | undefined;
  const stop = () => {
    stopped ??= Promise.all(running.map((each) => each.stop()));
    return stopped;
  };
  return {
    server,
    database: new URL(url).pathname.slice(1),
    urls,
    metricsUrls: running.map((each) => each.metricsUrl),
    key,
    beside,
    stop,
    send: (method, path, body, headers = {}) =>
      fetch(`${urls[next++ % urls.length]}${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headers: { "x-api-key": key, "content-type": "application/json", ...headers },
      }),
    async [Symbol.asyncDispose]() {
      await stop();
      await beside.close();
    },
  };
}
