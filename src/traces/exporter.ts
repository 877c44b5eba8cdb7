import { causeOf } from "../core/failure.ts";
import type { Chance } from "./context.ts";
import { type Attributes, bodyOf, type SpanRecord } from "./otlp.ts";

/** Spans that wait for the collector; more are dropped. */
export const QUEUED_SPANS = 4096;
/** Spans of one request: their JSON is made in about a millisecond, in which nobody else is answered. */
export const SPANS_AT_ONCE = 256;
/** How long spans are gathered, if they are fewer than that. */
const GATHERED_MS = 1000;
/** How long the collector has for an answer. */
const ANSWERED_WITHIN_MS = 10_000;
/** Bytes of its answer that are read; the rest is not waited for. */
const ANSWER_BYTES = 64 * 1024;
/** How long it is left alone after a failure; twice as long after each more. */
const FIRST_REST_MS = 1000;
const LONGEST_REST_MS = 30_000;
/** How long a stop waits for the collector. */
const STOPS_WITHIN_MS = 2000;

/** By which the collector says that the same spans are welcome later, as OTLP has it. */
const welcomeLater = new Set([429, 502, 503, 504]);

export interface ExporterOptions {
  readonly url: string;
  /** They may hold a key: never logged. */
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Attributes;
  readonly chance: Chance;
  /** The collector takes no spans; told once, until it does again. */
  readonly onAway: (cause: string) => void;
  readonly onBack: (awayMs: number, dropped: number) => void;
  /** So many spans were left at the end. */
  readonly onLost: (spans: number) => void;
}

export interface Exporter {
  add(span: SpanRecord): void;
  figures(): { readonly waiting: number; readonly sent: number; readonly dropped: number };
  /** Sends what is left, as far as there is time. */
  stop(): Promise<void>;
}

/** What came of sending some: spans that it took, or how long to leave it alone and whether to send the same again. */
type Outcome =
  | { readonly rejected: number }
  | { readonly cause: string; readonly isForLater: boolean; readonly restMs: number | undefined };

/** Sends spans to a collector, some at a time and one request after another; whoever adds one waits for nothing. */
export function exporter(options: ExporterOptions): Exporter {
  const { chance, onAway, onBack, onLost } = options;
  const waiting: SpanRecord[] = [];
  const counts = { sent: 0, dropped: 0 };
  const end = new AbortController();
  let state: "idle" | "gathering" | "due" | "sending" | "resting" = "idle";
  let timer: Timer | undefined;
  let sending: Promise<void> | undefined;
  let isStopping = false;
  let failures = 0;
  let away: { readonly since: number; readonly dropped: number } | undefined;

  const wait = (next: typeof state, milliseconds: number) => {
    if (isStopping) return;
    clearTimeout(timer);
    state = next;
    timer = setTimeout(() => {
      state = "sending";
      sending = sendSome();
    }, milliseconds);
  };
  const waitAsNeeded = () => {
    state = "idle";
    if (waiting.length === 0) return;
    if (waiting.length >= SPANS_AT_ONCE) wait("due", 0);
    else wait("gathering", GATHERED_MS);
  };
  const sendSome = async () => {
    // After a rest all may have been refused before it.
    const restMs = waiting.length === 0 ? 0 : await sendOnce();
    if (restMs === 0) waitAsNeeded();
    else wait("resting", restMs);
  };
  const sendOnce = async () => {
    const spans = waiting.slice(0, SPANS_AT_ONCE);
    return settle(spans.length, await sentTo(options, spans, end.signal));
  };

  /** Notes what came of it, and says how long to leave the collector alone. */
  const settle = (spans: number, outcome: Outcome): number => {
    if ("rejected" in outcome) {
      waiting.splice(0, spans);
      counts.sent += spans - outcome.rejected;
      counts.dropped += outcome.rejected;
      if (away) onBack(performance.now() - away.since, counts.dropped - away.dropped);
      away = undefined;
      failures = 0;
      return 0;
    }
    failures += 1;
    // One connection that breaks is no outage.
    if (!away && !isStopping && (failures > 1 || !outcome.isForLater)) {
      away = { since: performance.now(), dropped: counts.dropped };
      onAway(outcome.cause);
    }
    if (!outcome.isForLater) counts.dropped += waiting.splice(0, spans).length;
    const longest = Math.min(FIRST_REST_MS * 2 ** (failures - 1), LONGEST_REST_MS);
    return Math.min(outcome.restMs ?? longest * (0.5 + chance() / 2), LONGEST_REST_MS);
  };
  return {
    add(span) {
      if (waiting.length >= QUEUED_SPANS) {
        counts.dropped += 1;
        return;
      }
      waiting.push(span);
      if (state === "idle") wait("gathering", GATHERED_MS);
      else if (state === "gathering" && waiting.length >= SPANS_AT_ONCE) wait("due", 0);
    },
    figures: () => ({ waiting: waiting.length, ...counts }),
    async stop() {
      isStopping = true;
      clearTimeout(timer);
      const breakOff = setTimeout(() => end.abort(), STOPS_WITHIN_MS);
      await sending;
      let isTaken = true;
      while (isTaken && waiting.length > 0) isTaken = (await sendOnce()) === 0;
      clearTimeout(breakOff);
      const lost = waiting.splice(0).length;
      counts.dropped += lost;
      if (lost > 0) onLost(lost);
    },
  };
}

async function sentTo(
  { url, headers, resource }: ExporterOptions,
  spans: readonly SpanRecord[],
  end: AbortSignal,
): Promise<Outcome> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: bodyOf(resource, spans),
      redirect: "manual",
      signal: AbortSignal.any([AbortSignal.timeout(ANSWERED_WITHIN_MS), end]),
    });
    const text = await beginningOf(response);
    if (response.ok) return { rejected: Math.min(rejectedIn(text), spans.length) };
    const restMs = restOf(response.headers.get("retry-after"));
    return { cause: `HTTP ${response.status}`, isForLater: welcomeLater.has(response.status), restMs };
  } catch (error) {
    return { cause: causeOf(error), isForLater: true, restMs: undefined };
  }
}

/** An answer is small: one without an end would fill the memory. */
async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString();
}

/** How many spans the collector says that it has left out; what it says otherwise is not looked at. */
function rejectedIn(text: string): number {
  try {
    const rejected = Number(JSON.parse(text).partialSuccess?.rejectedSpans ?? 0);
    return rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}

function restOf(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d+$/.test(retryAfter) ? Math.max(1, Number(retryAfter)) * 1000 : undefined;
}
