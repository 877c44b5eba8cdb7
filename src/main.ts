import type { Config } from "./config.ts";
import type { Caller } from "./core/context.ts";
import { causeOf, Unavailable } from "./core/failure.ts";
import { perform as performed } from "./core/perform.ts";
import type { NewBanRecord } from "./core/ports.ts";
import { rulesOf } from "./core/rules.ts";
import { callers as knownCallers } from "./http/caller.ts";
import { openConsole } from "./http/console/console.ts";
import { cors } from "./http/cors.ts";
import type { Log } from "./http/log.ts";
import type { Store } from "./http/operate.ts";
import { pages } from "./http/pages.ts";
import { requestIds, serve } from "./http/serve.ts";
import type { EventStreams } from "./http/streams.ts";
import { mostConnections } from "./http/wire/descriptors.ts";
import { writeBehind } from "./limits/behind.ts";
import { type MemoryOptions, memoryLimits } from "./limits/memory.ts";
import { usageCounter } from "./limits/usage.ts";
import { openEngine } from "./store/open.ts";
import { SWEEP_EVERY_MS, sweep } from "./worker/sweep.ts";

/** How soon a change by another process is noticed. */
const LOOK_FOR_CHANGES_MS = 250;
const TRY_AGAIN_MS = 1000;
/** How long a change of who may do what waits for what was counted to be written down. */
const SETTLE_MS = 3000;

/** The server itself, where no key asks. */
const itself: Caller = { clientId: 0, keyId: 0, role: "admin" };

export interface Running {
  readonly url: string;
  /** Lets callers go elsewhere, finishes what is under way, writes what is left, and closes. */
  stop(): Promise<void>;
}

export interface Surroundings {
  readonly clock: () => number;
  /** Whether a test moves the clock by hand; then it counts in Valkey too, in the place of Valkey's own. */
  readonly isClockMoved?: boolean;
  readonly log: Log;
}

/** Opens the adapters, wires them, and listens. The database must be migrated. */
export async function start(
  config: Config,
  { clock, isClockMoved = false, log }: Surroundings,
): Promise<Running> {
  const rules = rulesOf(config);
  let isStopping = false;
  /** Nothing is tried again from here on. */
  let isClosing = false;
  const engine = await openEngine(new URL("./writer.ts", import.meta.url), {
    url: config.databaseUrl,
    connections: config.databaseConnections,
    rules,
    perform: performed,
    onFault: (error) =>
      log.error(
        isClosing
          ? "The data store could not be closed as it should; the next start mends that."
          : "Something went wrong in the data store.",
        { cause: causeOf(error) },
      ),
    onAway: (cause) =>
      log.error("PostgreSQL cannot be reached; requests are refused until it is back.", { cause }),
    onBack: (awayMs) =>
      log.warn("PostgreSQL is back; requests are answered again.", {
        awaySeconds: Math.round(awayMs) / 1000,
      }),
  });
  let streams: EventStreams | undefined;
  const store: Store = {
    ...engine.reads,
    perform(command) {
      const performed = engine.perform(command);
      if (streams) performed.then(streams.wake, () => {});
      return performed;
    },
  };
  const perform = (operation: string, input: unknown) =>
    store.perform({ operation, caller: itself, input, now: clock() });

  const usage = usageCounter();
  const limiting: MemoryOptions = {
    bans: rules.bans,
    anonymous: { perMinute: config.anonymousPerMinute, perDay: config.anonymousPerDay },
    onBan: (ban) => keepBan(ban),
    tell: (event) => behind.tell(event),
  };
  const valkey =
    config.valkeyUrls === null
      ? null
      : (await import("./limits/valkey/limits.ts")).valkeyLimits({
          ...limiting,
          urls: config.valkeyUrls,
          prefix: config.valkeyPrefix,
          clock: isClockMoved ? clock : "server",
          onAway: (cause, node) =>
            node === null
              ? log.warn("Valkey cannot be reached; each instance limits from its own memory.", { cause })
              : log.warn(
                  "A node of Valkey cannot be reached; each instance limits its clients from its own memory.",
                  { node, cause },
                ),
          onStillAway: (cause, node) =>
            log.warn(`${node === null ? "Valkey" : "A node of Valkey"} still cannot be reached.`, {
              ...(node !== null && { node }),
              cause,
            }),
          onBack: (node) => {
            if (node === null) log.warn("Valkey is back; limits are shared again.");
            else
              log.warn("A node of Valkey is back, or another has its place; limits are shared again.", {
                node,
              });
            callers.forget();
          },
        });
  const limits = valkey ?? memoryLimits(limiting);
  const behind = writeBehind({
    limits,
    usage,
    keep: async (part) => void (await perform("behind.keep", part)),
    fold: async () => {
      const { body } = await perform("behind.fold", { bytesAtOnce: engine.foldedAtOnce });
      return (body as { isDone: boolean }).isDone;
    },
    foldAfterBytes: engine.foldedAtOnce,
    onTrim: () => callers.forget(),
    onFault: (error) => {
      if (isClosing)
        log.warn("Counts could not be written down before the end, and are lost.", { cause: causeOf(error) });
      else if (!isTold(error))
        log.warn("Counts could not be written down; they are kept for the next time.", {
          cause: causeOf(error),
        });
    },
  });
  const known = { store, introduce: limits.introduce, keyWasUsed: behind.keyWasUsed };
  const webPage = config.console === "on" ? openConsole({ ...known, trustProxy: config.trustProxy }) : null;
  const callers = knownCallers({ ...known, sessions: webPage?.sessions });
  /** Bans that were earned and are on their way into the database. */
  const bansUnderWay = new Set<Promise<void>>();
  const keepBan = (ban: NewBanRecord): void => {
    const kept = untilKept(ban).finally(() => bansUnderWay.delete(kept));
    bansUnderWay.add(kept);
  };
  const untilKept = async (ban: NewBanRecord): Promise<void> => {
    do {
      try {
        await perform("behind.ban", ban);
        callers.forget();
        limits.banIsKept(ban);
        return;
      } catch (error) {
        if (!isTold(error))
          log.error(
            isStopping
              ? "A ban could not be kept before the end, and is lost."
              : "A ban could not be kept; it holds in memory and is tried again.",
            { keyId: ban.keyId, cause: causeOf(error) },
          );
        await Bun.sleep(TRY_AGAIN_MS);
      }
    } while (!isStopping);
  };

  await valkey?.settled;
  // What the last run left in tallies: requests are counted from rows on.
  await behind.fold().catch((error) =>
    log.warn("Counts of the last run could not be brought into rows; they are tried again.", {
      cause: causeOf(error),
    }),
  );

  const isReady = async () => !isStopping && (await engine.isReady());
  const deprecation = { deprecatedAt: config.petGetDeprecatedAt, sunsetAt: config.petGetSunsetAt };
  const server = listening(() =>
    serve({
      host: config.host,
      port: config.port,
      maxPendingRequests: config.maxPendingRequests,
      maxConnections: mostConnections(config.databaseConnections),
      trustProxy: config.trustProxy,
      store,
      rules,
      limits,
      callers,
      clock,
      log,
      record: usage.record,
      settle: async () => {
        if (!(await atMost(SETTLE_MS, Promise.all([behind.flush(), ...bansUnderWay]))))
          throw new Unavailable("What was counted could not be written down in time.");
      },
      streams: async () => {
        const { eventStreams } = await import("./http/streams.ts");
        streams ??= eventStreams({
          store,
          callers,
          clock,
          maxStreams: config.maxStreams,
          maxStreamsPerClient: config.maxStreamsPerClient,
          onFault: (error) => {
            if (!isTold(error)) log.warn("Events could not be streamed.", { cause: causeOf(error) });
          },
        });
        return streams;
      },
      cors: cors(config.corsOrigins),
      deprecation,
      isStopping: () => isStopping,
      newRequestId: requestIds(crypto.randomUUID().slice(0, 8)),
      pages: pages(
        async () => (await import("./contract/openapi.ts")).openapi(deprecation),
        deprecation,
        isReady,
        webPage?.folder,
      ),
      beside: webPage?.paths,
    }),
  );
  if (server instanceof Error) {
    valkey?.close();
    await engine.close();
    throw server;
  }

  let revision: number | undefined;
  let isLooking = false;
  const lookForChanges = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const latest = await store.accessRevision();
      if (latest !== revision) callers.forget();
      revision = latest;
    } catch {
      callers.forget();
    } finally {
      isLooking = false;
    }
  };
  await lookForChanges();
  const sweepNow = () =>
    sweep({
      perform,
      forgetAnswers: engine.forgetAnswers,
      clock,
      isStopping: () => isStopping,
      usageKeptDays: config.usageKeptDays,
      eventsKeptDays: config.eventsKeptDays,
    }).catch((error) => {
      if (!isTold(error)) log.warn("The sweep failed.", { cause: causeOf(error) });
    });
  const timers = [setInterval(lookForChanges, LOOK_FOR_CHANGES_MS), setInterval(sweepNow, SWEEP_EVERY_MS)];

  return {
    url: `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${server.port}`,
    async stop() {
      if (isStopping) return;
      isStopping = true;
      streams?.close();
      await Bun.sleep(config.shutdownDrainSeconds * 1000);
      for (const timer of timers) clearInterval(timer);
      await atMost(config.shutdownSeconds * 1000, server.stop());
      await server.stop(true);
      isClosing = true;
      await behind.stop();
      valkey?.close();
      await engine.close();
      log.flush();
    },
  };
}

/** Whether the log has the cause already: the database is away, and that was told when it went. */
function isTold(error: unknown): boolean {
  return error instanceof Unavailable && error.cause === undefined;
}

/** Waits for it, but no longer than this, and says whether it is done; no timer stays behind that would keep the process alive. */
async function atMost(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: timeIsUp, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, milliseconds, false);
  try {
    return await Promise.race([work.then(() => true), timeIsUp]);
  } finally {
    clearTimeout(timer);
  }
}

function listening<T>(listen: () => T): T | Error {
  try {
    return listen();
  } catch (error) {
    return error as Error;
  }
}
