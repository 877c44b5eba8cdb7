import { accessWatch } from "./access-watch.ts";
import { banKeeper } from "./ban-keeper.ts";
import type { Config } from "./config.ts";
import type { Caller } from "./core/context.ts";
import { causeOf, Unavailable } from "./core/failure.ts";
import { perform as performed } from "./core/perform.ts";
import { rulesOf } from "./core/rules.ts";
import { callers as knownCallers } from "./http/caller.ts";
import { openConsole } from "./http/console/console.ts";
import { cors } from "./http/cors.ts";
import type { Log } from "./http/log.ts";
import type { Store } from "./http/operate.ts";
import { metricsPage, pages } from "./http/pages.ts";
import { requestIds, serve } from "./http/serve.ts";
import type { EventStreams } from "./http/streams.ts";
import { mostConnections } from "./http/wire/descriptors.ts";
import type { Listening } from "./http/wire/listen.ts";
import { writeBehind } from "./limits/behind.ts";
import { type MemoryOptions, memoryLimits } from "./limits/memory.ts";
import { usageCounter } from "./limits/usage.ts";
import { listening, urlOf } from "./listening.ts";
import type { Figures } from "./metrics/figures.ts";
import { openMeters } from "./metrics/meters.ts";
import { openEngine } from "./store/open.ts";
import { isTold, postgresTold, valkeyTold } from "./told.ts";
import type { Resolve } from "./worker/send.ts";
import { SWEEP_EVERY_MS, sweep } from "./worker/sweep.ts";
import { openWebhooks } from "./worker/webhooks.ts";

/** How soon a change by another process is noticed. */
const LOOK_FOR_CHANGES_MS = 250;
/** How long a change of who may do what waits for what was counted to be written down. */
const SETTLE_MS = 3000;

/** The server itself, where no key asks. */
const itself: Caller = { clientId: 0, keyId: 0, role: "admin" };

export interface Running {
  readonly url: string;
  /** Where the figures are without a key, if they have a port of their own. */
  readonly metricsUrl: string | null;
  /** Lets callers go elsewhere, finishes what is under way, writes what is left, and closes. */
  stop(): Promise<void>;
}

export interface Surroundings {
  readonly clock: () => number;
  /** Whether a test moves the clock by hand; then it counts in Valkey too, in the place of Valkey's own. */
  readonly isClockMoved?: boolean;
  readonly log: Log;
  /** How the names of webhooks' receivers are resolved; as the machine does it by default. */
  readonly resolve?: Resolve;
}

/** Opens the adapters, wires them, and listens. The database must be migrated. */
export async function start(
  config: Config,
  { clock, isClockMoved = false, log, resolve }: Surroundings,
): Promise<Running> {
  const rules = rulesOf(config);
  const meters = openMeters();
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
    ...postgresTold(log),
    onAway: (cause) => {
      meters.counts.databaseOutages += 1;
      postgresTold(log).onAway(cause);
    },
    onCommit: meters.committed,
  });
  let streams: EventStreams | undefined;
  const store: Store = {
    ...engine.reads,
    perform(command) {
      const performed = engine.perform(command);
      webhooks.wake();
      if (streams) performed.then(streams.wake, () => {});
      return performed;
    },
  };
  const perform = (operation: string, input: unknown) =>
    store.perform({ operation, caller: itself, input, now: clock() });
  const webhooks = openWebhooks({
    store,
    perform,
    clock,
    resolve,
    ...rules.webhooks,
    onFault: (error) => {
      if (!isTold(error)) log.warn("Webhooks wait; they are tried again.", { cause: causeOf(error) });
    },
  });

  const usage = usageCounter();
  const limiting: MemoryOptions = {
    bans: rules.bans,
    anonymous: { perMinute: config.anonymousPerMinute, perDay: config.anonymousPerDay },
    onBan: (ban) => {
      meters.counts.bansEarned += 1;
      bans.keep(ban);
    },
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
          ...valkeyTold(log),
          onBack: (node) => {
            valkeyTold(log).onBack(node);
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
      meters.counts.behindFailures += 1;
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
  const bans = banKeeper({
    keep: async (ban) => void (await perform("behind.ban", ban)),
    onKept: (ban) => {
      callers.forget();
      limits.banIsKept(ban);
    },
    isStopping: () => isStopping,
    log,
  });

  await valkey?.settled;
  // What the last run left in tallies: requests are counted from rows on.
  await behind.fold().catch((error) =>
    log.warn("Counts of the last run could not be brought into rows; they are tried again.", {
      cause: causeOf(error),
    }),
  );

  const isReady = async () => !isStopping && (await engine.isReady());
  const deprecation = { deprecatedAt: config.petGetDeprecatedAt, sunsetAt: config.petGetSunsetAt };
  const maxConnections = mostConnections(config.databaseConnections);
  const metrics = metricsPage(async () => {
    const { underWay, connections, turnedAway } = server as Listening;
    const figures: Figures = {
      http: { underWay, connections, turnedAway, mostConnections: maxConnections },
      limits: valkey ? "valkey" : "memory",
      valkey: valkey?.state() ?? null,
      isDatabaseUp: await engine.isReady(),
      database: engine.figures(),
      behindMs: behind.lagMs(),
    };
    return (await import("./metrics/text.ts")).metricsText(meters, figures);
  });
  const server = listening(config, "", ({ host, port }) =>
    serve({
      host,
      port,
      maxPendingRequests: config.maxPendingRequests,
      maxConnections,
      trustProxy: config.trustProxy,
      store,
      rules,
      limits,
      callers,
      clock,
      log,
      record: usage.record,
      meter: meters.requests,
      settle: async () => {
        if (!(await atMost(SETTLE_MS, Promise.all([behind.flush(), bans.settled()]))))
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
      adminPages: { "/metrics": metrics },
      beside: webPage?.paths,
    }),
  );
  const { metricsHost, metricsPort } = config;
  const beside = metricsPort === null ? null : await import("./http/page-server.ts");
  const metricsServer =
    beside &&
    listening({ host: metricsHost, port: metricsPort as number }, "METRICS_", (at) =>
      beside.servePages({ ...at, pages: { "/metrics": metrics }, log }),
    );
  if (server instanceof Error || metricsServer instanceof Error) {
    for (const each of [server, metricsServer]) if (each && !(each instanceof Error)) await each.stop(true);
    meters.close();
    await webhooks.stop();
    valkey?.close();
    await engine.close();
    throw server instanceof Error ? server : metricsServer;
  }

  const lookForChanges = accessWatch(store, callers.forget);
  await lookForChanges();
  const sweepNow = () =>
    sweep({
      perform,
      forgetAnswers: engine.forgetAnswers,
      clock,
      isStopping: () => isStopping,
      usageKeptDays: config.usageKeptDays,
      eventsKeptDays: config.eventsKeptDays,
      deliveriesKeptDays: config.deliveriesKeptDays,
    }).catch((error) => {
      if (!isTold(error)) log.warn("The sweep failed.", { cause: causeOf(error) });
    });
  const timers = [setInterval(lookForChanges, LOOK_FOR_CHANGES_MS), setInterval(sweepNow, SWEEP_EVERY_MS)];

  return {
    url: urlOf(config.host, server.port),
    metricsUrl: metricsServer && `${urlOf(config.metricsHost, metricsServer.port)}/metrics`,
    async stop() {
      if (isStopping) return;
      isStopping = true;
      streams?.close();
      await Bun.sleep(config.shutdownDrainSeconds * 1000);
      for (const timer of timers) clearInterval(timer);
      await atMost(config.shutdownSeconds * 1000, Promise.all([server.stop(), webhooks.stop()]));
      await server.stop(true);
      isClosing = true;
      await behind.stop();
      await metricsServer?.stop(true);
      meters.close();
      valkey?.close();
      await engine.close();
      log.flush();
    },
  };
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
