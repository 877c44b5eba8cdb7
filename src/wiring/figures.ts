import { causeOf } from "../core/failure.ts";
import type { DeliveryBacklog } from "../core/webhook-ports.ts";
import { metricsPage } from "../http/pages.ts";
import type { Page } from "../http/serve.ts";
import type { Listening } from "../http/wire/listen.ts";
import type { Figures } from "../metrics/figures.ts";
import type { Admission } from "./admission.ts";
import type { Data } from "./data.ts";
import type { Followers } from "./followers.ts";
import type { House } from "./house.ts";
import { seldom } from "./seldom.ts";
import { isTold } from "./told.ts";
import type { Tracing } from "./tracing.ts";

/** How the server does, for those who look after it: each part is asked when somebody looks. */
export function figuresPage(
  { meters, clock, log }: House,
  { engine, store }: Data,
  { valkey, lagMs }: Admission,
  tracing: Tracing,
  { figures: streams }: Pick<Followers, "figures">,
  http: () => Pick<Listening, "underWay" | "connections" | "turnedAway"> & { mostConnections: number },
): Page {
  // With thousands of webhooks it takes a while, for which on SQLite everybody waits.
  const backlog = seldom(async () => store.deliveryBacklog(clock()), clock);
  return metricsPage(async () => {
    const { metricsText } = await import("../metrics/text.ts");
    const isDatabaseUp = await engine.isReady();
    return metricsText(meters, {
      http: http(),
      limits: valkey ? "valkey" : "memory",
      valkey: valkey?.state() ?? null,
      isDatabaseUp,
      database: engine.figures(),
      behindMs: lagMs(),
      traces: tracing.figures(),
      webhooks: isDatabaseUp ? await waiting(backlog, clock(), log) : null,
      streams: streams(),
    });
  });
}

/** What waits for webhooks, if the database says it: it may go away as it is asked. */
async function waiting(
  backlog: () => Promise<readonly DeliveryBacklog[]>,
  now: number,
  log: House["log"],
): Promise<Figures["webhooks"]> {
  try {
    const found = await backlog();
    const of = (isFailing: boolean) => {
      const part = found.find((each) => each.isFailing === isFailing);
      return { pending: part?.pending ?? 0, oldestDueMs: Math.max(0, now - (part?.nextAt ?? now)) };
    };
    return { working: of(false), failing: of(true) };
  } catch (error) {
    if (!isTold(error)) log.warn("What waits for webhooks could not be counted.", { cause: causeOf(error) });
    return null;
  }
}
