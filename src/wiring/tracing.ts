import type { Tracer } from "../http/exchange.ts";
import { isPostgres } from "../store/open.ts";
import type { Send } from "../worker/send.ts";
import type { House } from "./house.ts";
import { collectorTold } from "./told.ts";

/** What is told to a collector of traces, if the settings name one. */
export interface Tracing {
  readonly tracer: Tracer | undefined;
  /** Sends webhooks, and tells of each. */
  readonly traced: (send: Send) => Send;
  figures(): { readonly waiting: number; readonly sent: number; readonly dropped: number } | null;
  /** Sends what is left. */
  stop(): Promise<void>;
}

export async function openTracing({ config, log, clock }: House): Promise<Tracing> {
  const { tracesUrl: url, tracesOff, tracesHeaders: headers, tracesRatio: ratio, serviceName } = config;
  if (url === null || tracesOff === "true") return noTracing;
  const { exporter } = await import("../traces/exporter.ts");
  const { resourceOf } = await import("../traces/otlp.ts");
  const { requestTracer } = await import("../traces/tracer.ts");
  const { tracedDeliveries } = await import("../traces/deliveries.ts");
  const chance = Math.random;
  const resource = resourceOf(serviceName, crypto.randomUUID());
  const spans = exporter({ url, headers, resource, chance, ...collectorTold(log) });
  const store = isPostgres(config.databaseUrl) ? "postgresql" : "sqlite";
  const systems = { store, limits: config.valkeyUrls === null ? undefined : "redis" } as const;
  return {
    tracer: requestTracer({ ratio, systems, chance, add: spans.add }),
    traced: tracedDeliveries({ ratio, chance, clock, add: spans.add }),
    figures: spans.figures,
    stop: spans.stop,
  };
}

const noTracing: Tracing = {
  tracer: undefined,
  traced: (send) => send,
  figures: () => null,
  async stop() {},
};
