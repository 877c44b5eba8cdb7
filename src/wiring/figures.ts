import { metricsPage } from "../http/pages.ts";
import type { Page } from "../http/serve.ts";
import type { Listening } from "../http/wire/listen.ts";
import type { Admission } from "./admission.ts";
import type { Data } from "./data.ts";
import type { House } from "./house.ts";
import type { Tracing } from "./tracing.ts";

/** How the server does, for those who look after it: each part is asked when somebody looks. */
export function figuresPage(
  { meters }: House,
  { engine }: Data,
  { valkey, lagMs }: Admission,
  tracing: Tracing,
  http: () => Pick<Listening, "underWay" | "connections" | "turnedAway"> & { mostConnections: number },
): Page {
  return metricsPage(async () => {
    const { metricsText } = await import("../metrics/text.ts");
    return metricsText(meters, {
      http: http(),
      limits: valkey ? "valkey" : "memory",
      valkey: valkey?.state() ?? null,
      isDatabaseUp: await engine.isReady(),
      database: engine.figures(),
      behindMs: lagMs(),
      traces: tracing.figures(),
    });
  });
}
