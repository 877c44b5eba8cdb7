import packageFile from "../../package.json" with { type: "json" };

/** What a span is of, in OTLP's numbers. */
export const kinds = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Work that was done, from a time to another. */
export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly name: string;
  readonly kind: keyof typeof kinds;
  /** Milliseconds since 1970, with their fraction. */
  readonly startMs: number;
  readonly endMs: number;
  /** Those without a value are left out. */
  readonly attributes: Attributes;
  /** What went wrong, if something did. */
  readonly errorType: string | undefined;
}

/** Who sends spans: one process of a service. */
export function resourceOf(serviceName: string, instanceId: string): Attributes {
  return {
    "service.name": serviceName,
    "service.version": packageFile.version,
    "service.instance.id": instanceId,
  };
}

/** The body of a request of OTLP (ExportTraceServiceRequest), in its JSON. */
export function bodyOf(resource: Attributes, spans: readonly SpanRecord[]): string {
  const { name, version } = packageFile;
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name, version }, spans: spans.map(spanOf) }],
      },
    ],
  });
}

function spanOf({ kind, startMs, endMs, attributes, errorType, ...span }: SpanRecord) {
  return {
    ...span,
    kind: kinds[kind],
    startTimeUnixNano: nanosecondsOf(startMs),
    endTimeUnixNano: nanosecondsOf(endMs),
    attributes: attributesOf({ ...attributes, "error.type": errorType }),
    status: errorType === undefined ? {} : { code: STATUS_ERROR },
  };
}

function attributesOf(attributes: Attributes) {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({
      key,
      // A 64-bit number is a text in the JSON of Protocol Buffers.
      value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
    }));
}

/** A number cannot hold so many digits; a text can. */
function nanosecondsOf(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  return `${whole}${String(Math.floor((milliseconds - whole) * 1e6)).padStart(6, "0")}`;
}
