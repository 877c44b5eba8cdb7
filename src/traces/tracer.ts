import { type Chance, newSpanId, newTraceId, parentOf } from "./context.ts";
import type { SpanRecord } from "./otlp.ts";

/** What a request's line of the log says. */
export interface Line {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly operation: string | undefined;
  readonly status: number;
  readonly microseconds: number;
  readonly clientId: number | undefined;
  readonly keyId: number | undefined;
  readonly code: string | undefined;
}

/** The parts that a request can wait for which are databases, by OpenTelemetry's names for those. */
export type Systems = Readonly<Record<string, "sqlite" | "postgresql" | "redis" | undefined>>;

export interface TracerOptions {
  /** Which part of the traces that begin here is sent. */
  readonly ratio: number;
  readonly systems: Systems;
  readonly chance: Chance;
  readonly add: (span: SpanRecord) => void;
}

export interface RequestSpan {
  readonly traceId: string;
  waited(part: string, step: string, from: number, to: number, errorType: string | undefined): void;
  end(line: Line, route: string | undefined): void;
}

export interface RequestTracer {
  begin(headers: { get(name: string): string | null }, now: number, started: number): RequestSpan | undefined;
}

/** Callers can make methods up; others than these have one name. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Makes spans of requests, as OpenTelemetry's conventions for HTTP have them. */
export function requestTracer({ ratio, systems, chance, add }: TracerOptions): RequestTracer {
  return {
    begin(headers, now, started) {
      const parent = parentOf(headers.get("traceparent"), headers.get("tracestate"));
      if (parent && !parent.isSampled) return undefined;
      const traceId = parent?.traceId ?? newTraceId(ratio, chance);
      if (traceId === null) return undefined;
      const spanId = newSpanId(chance);
      const traceState = parent?.state;
      return {
        traceId,
        waited(part, step, from, to, errorType) {
          const system = systems[part];
          add({
            traceId,
            spanId: newSpanId(chance),
            parentSpanId: spanId,
            traceState,
            name: `${part}.${step}`,
            // The embedded database is no other process.
            kind: system === undefined || system === "sqlite" ? "internal" : "client",
            startMs: now + from - started,
            endMs: now + to - started,
            attributes: { "db.system.name": system },
            errorType,
          });
        },
        end(line, route) {
          const endMs = now + line.microseconds / 1000;
          const place = { traceId, spanId, parentSpanId: parent?.spanId, traceState, startMs: now, endMs };
          add({ ...place, ...serverSpan(line, route) });
        },
      };
    },
  };
}

/** No query, no header, no network address: what a span holds others than the operator may see. */
function serverSpan(
  line: Line,
  route: string | undefined,
): Pick<SpanRecord, "name" | "kind" | "attributes" | "errorType"> {
  const { requestId, method, path, operation, status, clientId, keyId, code } = line;
  const isKnown = methods.has(method);
  const shown = isKnown ? method : "HTTP";
  return {
    name: route === undefined ? shown : `${shown} ${route}`,
    kind: "server",
    attributes: {
      "http.request.method": isKnown ? method : "_OTHER",
      "http.route": route,
      "http.response.status_code": status,
      "url.path": path,
      "url.scheme": "http",
      "petstore.request_id": requestId,
      "petstore.operation": operation,
      "petstore.client_id": clientId,
      "petstore.key_id": keyId,
      "petstore.error_code": code,
    },
    // What a caller did wrong is no error of the server.
    errorType: status >= 500 ? (code ?? String(status)) : undefined,
  };
}
