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

/** The collector took them, but for so many. */
interface Taken {
  readonly rejected: number;
}

/** It took none: how long it asks to be left alone, and whether to send the same again. */
interface Refused {
  readonly cause: string;
  readonly isForLater: boolean;
  readonly restMs: number | undefined;
}

/** What is to be sent, and how the collector does. */
interface Exporting {
  readonly options: ExporterOptions;
  readonly waiting: SpanRecord[];
  readonly counts: { sent: number; dropped: number };
  /** Breaks off what the collector has not answered. */
  readonly end: AbortController;
  state: "idle" | "gathering" | "due" | "sending" | "resting";
  timer: Timer | undefined;
  sending: Promise<void> | undefined;
  isStopping: boolean;
  /** One after another, up to now. */
  failures: number;
  /** Since when it takes none, and how many were dropped before. */
  away: { readonly since: number; readonly dropped: number } | undefined;
}

/** Sends spans to a collector, some at a time and one request after another; whoever adds one waits for nothing. */
export function exporter(options: ExporterOptions): Exporter {
  const exporting: Exporting = {
    options,
    waiting: [],
    counts: { sent: 0, dropped: 0 },
    end: new AbortController(),
    state: "idle",
    timer: undefined,
    sending: undefined,
    isStopping: false,
    failures: 0,
    away: undefined,
  };
  return {
    add: (span) => add(exporting, span),
    figures: () => ({ waiting: exporting.waiting.length, ...exporting.counts }),
    stop: () => stop(exporting),
  };
}

function add(exporting: Exporting, span: SpanRecord): void {
  const { waiting, counts, state } = exporting;
  if (waiting.length >= QUEUED_SPANS) {
    counts.dropped += 1;
    return;
  }
  waiting.push(span);
  if (state === "idle") wait(exporting, "gathering", GATHERED_MS);
  else if (state === "gathering" && waiting.length >= SPANS_AT_ONCE) wait(exporting, "due", 0);
}

async function stop(exporting: Exporting): Promise<void> {
  const { options, waiting, counts, end } = exporting;
  exporting.isStopping = true;
  clearTimeout(exporting.timer);
  const breakOff = setTimeout(() => end.abort(), STOPS_WITHIN_MS);
  await exporting.sending;
  let isTaken = true;
  while (isTaken && waiting.length > 0) isTaken = (await sendOnce(exporting)) === 0;
  clearTimeout(breakOff);
  const lost = waiting.splice(0).length;
  counts.dropped += lost;
  if (lost > 0) options.onLost(lost);
}

function wait(exporting: Exporting, next: Exporting["state"], milliseconds: number): void {
  if (exporting.isStopping) return;
  clearTimeout(exporting.timer);
  exporting.state = next;
  exporting.timer = setTimeout(() => {
    exporting.state = "sending";
    exporting.sending = sendSome(exporting);
  }, milliseconds);
}

async function sendSome(exporting: Exporting): Promise<void> {
  // After a rest all may have been refused before it.
  const restMs = exporting.waiting.length === 0 ? 0 : await sendOnce(exporting);
  if (restMs === 0) waitAsNeeded(exporting);
  else wait(exporting, "resting", restMs);
}

function waitAsNeeded(exporting: Exporting): void {
  const { waiting } = exporting;
  exporting.state = "idle";
  if (waiting.length === 0) return;
  if (waiting.length >= SPANS_AT_ONCE) wait(exporting, "due", 0);
  else wait(exporting, "gathering", GATHERED_MS);
}

/** Sends as many as go together, and says how long to leave the collector alone. */
async function sendOnce(exporting: Exporting): Promise<number> {
  const { options, waiting, end } = exporting;
  const spans = waiting.slice(0, SPANS_AT_ONCE);
  const outcome = await sentTo(options, spans, end.signal);
  if ("cause" in outcome) return noteRefused(exporting, spans.length, outcome);
  noteTaken(exporting, spans.length, outcome);
  return 0;
}

function noteTaken(exporting: Exporting, spans: number, { rejected }: Taken): void {
  const { options, waiting, counts, away } = exporting;
  waiting.splice(0, spans);
  counts.sent += spans - rejected;
  counts.dropped += rejected;
  if (away) options.onBack(performance.now() - away.since, counts.dropped - away.dropped);
  exporting.away = undefined;
  exporting.failures = 0;
}

/** Says how long to leave the collector alone. */
function noteRefused(exporting: Exporting, spans: number, { cause, isForLater, restMs }: Refused): number {
  const { options, waiting, counts } = exporting;
  exporting.failures += 1;
  const { away, isStopping, failures } = exporting;
  // One connection that breaks is no outage.
  if (!away && !isStopping && (failures > 1 || !isForLater)) {
    exporting.away = { since: performance.now(), dropped: counts.dropped };
    options.onAway(cause);
  }
  if (!isForLater) counts.dropped += waiting.splice(0, spans).length;
  const longest = Math.min(FIRST_REST_MS * 2 ** (failures - 1), LONGEST_REST_MS);
  return Math.min(restMs ?? longest * (0.5 + options.chance() / 2), LONGEST_REST_MS);
}

async function sentTo(
  { url, headers, resource }: ExporterOptions,
  spans: readonly SpanRecord[],
  end: AbortSignal,
): Promise<Taken | Refused> {
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
