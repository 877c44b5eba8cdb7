import type { Attempt, Attempted } from "../core/delivering.ts";
import { type Chance, newSpanId, newTraceId } from "./context.ts";
import type { SpanRecord } from "./otlp.ts";

type Outcome = Pick<Attempted, "reason" | "responseStatus">;

export interface DeliveryTracing {
  /** Which part of the tries is sent. */
  readonly ratio: number;
  readonly chance: Chance;
  readonly clock: () => number;
  readonly add: (span: SpanRecord) => void;
}

/**
 * Tells of tries to send webhooks, each a trace of its own: a try may come days after the request that it tells of. The receiver is told
 * nothing of it: it is somebody else's. Of its address only the host is told: paths of receivers hold secrets.
 */
export function tracedDeliveries({ ratio, chance, clock, add }: DeliveryTracing) {
  return <T extends Outcome>(send: (attempt: Attempt, signal?: AbortSignal) => Promise<T | null>) =>
    async (attempt: Attempt, signal?: AbortSignal): Promise<T | null> => {
      const traceId = newTraceId(ratio, chance);
      if (traceId === null) return send(attempt, signal);
      const [startMs, started] = [clock(), performance.now()];
      const sent = await send(attempt, signal);
      const endMs = startMs + performance.now() - started;
      const place = { traceId, spanId: newSpanId(chance), parentSpanId: undefined, traceState: undefined };
      add({ ...place, startMs, endMs, ...clientSpan(attempt, sent) });
      return sent;
    };
}

function clientSpan(
  { url, webhookId, deliveryId, attempt }: Attempt,
  sent: Outcome | null,
): Pick<SpanRecord, "name" | "kind" | "attributes" | "errorType"> {
  const { hostname, port, protocol } = new URL(url);
  return {
    name: "POST",
    kind: "client",
    attributes: {
      "http.request.method": "POST",
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      "http.response.status_code": sent?.responseStatus ?? undefined,
      "http.request.resend_count": attempt > 1 ? attempt - 1 : undefined,
      "petstore.webhook_id": webhookId,
      "petstore.delivery_id": deliveryId,
    },
    errorType: sent === null ? "broken_off" : (sent.reason ?? undefined),
  };
}
