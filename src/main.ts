import type { Config } from "./config.ts";
import { openapi } from "./contract/openapi.ts";
import { ANSWERS_KEPT_MS } from "./core/perform.ts";
import { identifier } from "./http/caller.ts";
import { cors } from "./http/cors.ts";
import type { Log } from "./http/log.ts";
import { pages } from "./http/pages.ts";
import { requestIds, serve } from "./http/serve.ts";
import { connect } from "./store/sqlite/connection.ts";
import { startWriter } from "./store/sqlite/writer.ts";
import { reads } from "./store/store.ts";

const FORGET_EVERY_MS = 60_000;

export interface Running {
  readonly url: string;
  /** Finishes what is under way, writes what is left, and closes. */
  stop(): Promise<void>;
}

export interface Surroundings {
  readonly clock: () => number;
  readonly log: Log;
}

/** Opens the adapters, wires them, and listens. The database must be migrated. */
export async function start(config: Config, { clock, log }: Surroundings): Promise<Running> {
  const writer = await startWriter(
    new URL("./writer.ts", import.meta.url),
    { path: config.databaseUrl, rules: { newPetStock: config.newPetStock } },
    (error) => log.error("The writer stopped and is started again.", { cause: String(error) }),
  );
  const reader = connect(config.databaseUrl, "read");
  const store = { ...reads(reader), perform: writer.perform };
  const isReady = async () => {
    try {
      return writer.isReady() && !isStopping && reader.value("select 1") === 1;
    } catch {
      return false;
    }
  };
  let isStopping = false;
  const deprecation = { deprecatedAt: config.petGetDeprecatedAt, sunsetAt: config.petGetSunsetAt };
  const server = listening(() =>
    serve({
      host: config.host,
      port: config.port,
      maxPendingRequests: config.maxPendingRequests,
      store,
      clock,
      log,
      identify: identifier(store),
      cors: cors(config.corsOrigins),
      deprecation,
      newRequestId: requestIds(crypto.randomUUID().slice(0, 8)),
      pages: pages(() => openapi(deprecation), deprecation, isReady),
    }),
  );
  if (server instanceof Error) {
    await writer.close();
    reader.close();
    throw server;
  }
  const forgetting = setInterval(() => writer.forgetAnswers(clock() - ANSWERS_KEPT_MS), FORGET_EVERY_MS);
  forgetting.unref();

  return {
    url: `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${server.port}`,
    async stop() {
      if (isStopping) return;
      isStopping = true;
      clearInterval(forgetting);
      await Promise.race([server.stop(), Bun.sleep(config.shutdownSeconds * 1000)]);
      await server.stop(true);
      await writer.close();
      reader.close();
      log.flush();
    },
  };
}

function listening<T>(listen: () => T): T | Error {
  try {
    return listen();
  } catch (error) {
    return error as Error;
  }
}
