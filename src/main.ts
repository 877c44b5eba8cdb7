import type { Config } from "./config.ts";
import { causeOf } from "./core/failure.ts";
import { rulesOf } from "./core/rules.ts";
import { cors } from "./http/cors.ts";
import { pages } from "./http/pages.ts";
import { type Page, requestIds, serve } from "./http/serve.ts";
import { mostConnections } from "./http/wire/descriptors.ts";
import type { Listening } from "./http/wire/listen.ts";
import { openMeters } from "./metrics/meters.ts";
import { accessWatch } from "./wiring/access-watch.ts";
import { type Admission, openAdmission } from "./wiring/admission.ts";
import { atMost } from "./wiring/at-most.ts";
import { type Data, openData } from "./wiring/data.ts";
import { figuresPage } from "./wiring/figures.ts";
import { type Followers, followers } from "./wiring/followers.ts";
import type { House, Surroundings } from "./wiring/house.ts";
import { listening, NotListening, urlOf } from "./wiring/listening.ts";
import { isTold } from "./wiring/told.ts";
import { openTracing, type Tracing } from "./wiring/tracing.ts";
import type { Deliverer } from "./worker/deliver.ts";
import { SWEEP_EVERY_MS, sweep } from "./worker/sweep.ts";
import { openWebhooks } from "./worker/webhooks.ts";

/** How soon a change by another process is noticed. */
const LOOK_FOR_CHANGES_MS = 250;

export interface Running {
  readonly url: string;
  /** Where the figures are without a key, if they have a port of their own. */
  readonly metricsUrl: string | null;
  /** Lets callers go elsewhere, finishes what is under way, writes what is left, and closes. */
  stop(): Promise<void>;
}

/** Opens the adapters, wires them, and listens. The database must be migrated. */
export async function start(config: Config, surroundings: Surroundings): Promise<Running> {
  const { log } = surroundings;
  const life = { isStopping: false, isClosing: false };
  const house: House = { ...surroundings, config, rules: rulesOf(config), meters: openMeters(), life };
  const data = await openData(house, (written) => {
    webhooks.wake();
    following.onWrite(written);
  });
  const { engine, store } = data;
  const tracing = await openTracing(house);
  const webhooks = config.webhooks ? webhooksOf(house, data, tracing) : noWebhooks;
  const following = followers(house, () => ({ store, callers: admission.callers }));
  const admission = await openAdmission(house, data);
  const close = async () => {
    house.meters.close();
    admission.valkey?.close();
    await engine.close();
  };
  const listeners = await listen(house, data, admission, following, tracing);
  if (listeners instanceof NotListening) {
    await webhooks.stop();
    await close();
    throw listeners;
  }
  const { server, metricsServer } = listeners;

  const lookForChanges = accessWatch(store, admission.callers.forget);
  await lookForChanges();
  const timers = [setInterval(lookForChanges, LOOK_FOR_CHANGES_MS)];
  // By a clock that is moved by hand nothing goes as long as nobody asks for it.
  if (!house.isClockMoved) timers.push(setInterval(sweepNow, SWEEP_EVERY_MS, house, data));
  return {
    url: urlOf(config.host, server.port),
    metricsUrl: metricsServer && `${urlOf(config.metricsHost, metricsServer.port)}/metrics`,
    async stop() {
      if (life.isStopping) return;
      life.isStopping = true;
      following.close();
      const isSent = webhooks.stop();
      await Bun.sleep(config.shutdownDrainSeconds * 1000);
      for (const timer of timers) clearInterval(timer);
      await atMost(config.shutdownSeconds * 1000, Promise.all([server.stop(), isSent]));
      await server.stop(true);
      life.isClosing = true;
      await Promise.all([admission.stop(), tracing.stop()]);
      await metricsServer?.stop(true);
      await close();
      log.flush();
    },
  };
}

function webhooksOf(
  { clock, log, resolve, rules, meters }: House,
  { store, perform }: Data,
  { traced }: Tracing,
): Deliverer {
  return openWebhooks({
    store,
    perform,
    clock,
    resolve,
    traced,
    meter: meters.webhooks,
    ...rules.webhooks,
    onFault: (error) => {
      if (!isTold(error)) log.warn("Webhooks wait; they are tried again.", { cause: causeOf(error) });
    },
  });
}

/** Of an instance that sends nothing, a drill's for example: the log keeps what is to be sent. */
const noWebhooks: Deliverer = { wake() {}, async stop() {} };

interface Listeners {
  readonly server: Listening;
  readonly metricsServer: Listening | null;
}

/** On all ports, or on none. */
async function listen(
  house: House,
  data: Data,
  admission: Admission,
  following: Followers,
  tracing: Tracing,
): Promise<Listeners | NotListening> {
  const { metricsHost, metricsPort } = house.config;
  const mostAtOnce = mostConnections(house.config.databaseConnections);
  const metrics = figuresPage(house, data, admission, tracing, following, () => {
    const { underWay, connections, turnedAway } = server as Listening;
    return { underWay, connections, turnedAway, mostConnections: mostAtOnce };
  });
  const server = listening(house.config, "", (at) =>
    serve({
      ...at,
      maxConnections: mostAtOnce,
      tracer: tracing.tracer,
      ...serving(house, data, admission, following, metrics),
    }),
  );
  if (server instanceof NotListening || metricsPort === null)
    return server instanceof NotListening ? server : { server, metricsServer: null };
  const { servePages } = await import("./http/page-server.ts");
  const metricsServer = listening({ host: metricsHost, port: metricsPort }, "METRICS_", (at) =>
    servePages({ ...at, pages: { "/metrics": metrics }, log: house.log }),
  );
  if (!(metricsServer instanceof NotListening)) return { server, metricsServer };
  await server.stop(true);
  return metricsServer;
}

/** What a request meets. */
function serving(
  { config, rules, meters, log, clock, life }: House,
  { engine, store }: Data,
  { limits, callers, record, settle, console }: Admission,
  { streams }: Followers,
  metrics: Page,
) {
  const deprecation = { deprecatedAt: config.petGetDeprecatedAt, sunsetAt: config.petGetSunsetAt };
  const document = async () => (await import("./contract/openapi.ts")).openapi(deprecation);
  const isReady = async () => !life.isStopping && (await engine.isReady());
  return {
    maxPendingRequests: config.maxPendingRequests,
    trustProxy: config.trustProxy,
    store,
    rules,
    limits,
    callers,
    clock,
    log,
    record,
    meter: meters.requests,
    settle,
    streams,
    cors: cors(config.corsOrigins),
    deprecation,
    isStopping: () => life.isStopping,
    newRequestId: requestIds(crypto.randomUUID().slice(0, 8)),
    pages: pages(document, deprecation, isReady, console?.folder),
    adminPages: { "/metrics": metrics },
    beside: console?.paths,
  };
}

async function sweepNow({ config, clock, log, life }: House, { engine, perform }: Data): Promise<void> {
  const { usageKeptDays, eventsKeptDays, deliveriesKeptDays } = config;
  const kept = { usageKeptDays, eventsKeptDays, deliveriesKeptDays };
  const isStopping = () => life.isStopping;
  const onFault = (error: unknown) => {
    if (!isTold(error)) log.warn("The sweep failed.", { cause: causeOf(error) });
  };
  const { forgetAnswers } = engine;
  await sweep({ perform, forgetAnswers, clock, isStopping, onFault, ...kept }).catch(onFault);
}
