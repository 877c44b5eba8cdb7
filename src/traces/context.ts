import { holdsKey } from "../core/key-format.ts";

/** What a caller says of the trace that its request belongs to. */
export interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  /** What tracers of other makers pass on; kept as it is. */
  readonly state: string | undefined;
}

/** From 0 to 1. */
export type Chance = () => number;

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;
/** What W3C asks everybody to be able to pass on. */
const STATE_CHARACTERS = 512;

/** Reads `traceparent` and `tracestate` as W3C Trace Context has them; one that is not right counts as none. */
export function parentOf(traceparent: string | null, tracestate: string | null): Parent | null {
  if (traceparent === null) return null;
  const [, version, traceId = "", spanId = "", flags = "", more] = form.exec(traceparent) ?? [];
  // A later version may say more behind what this one says.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
  return { traceId, spanId, isSampled, state: isSampled ? stateOf(tracestate) : undefined };
}

function stateOf(tracestate: string | null): string | undefined {
  if (tracestate === null || tracestate.length > STATE_CHARACTERS || holdsKey(tracestate)) return undefined;
  return /^[\x20-\x7e]+$/.test(tracestate) ? tracestate : undefined;
}

/**
 * The id of a new trace, or nothing if it is not to be sent: that is decided by its last 56 bits, as OpenTelemetry has it, so that
 * another who decides by the id alone, and keeps no less, decides alike.
 */
export function newTraceId(ratio: number, chance: Chance): string | null {
  const drawn = chance();
  if (drawn < 1 - ratio) return null;
  return firstDigits(chance) + digits(chance(), 40) + digits(drawn, 56);
}

export function newSpanId(chance: Chance): string {
  return firstDigits(chance) + digits(chance(), 32);
}

/** 8 digits, and not all of them zeros: an id of zeros is none. */
function firstDigits(chance: Chance): string {
  return (1 + Math.floor(chance() * (2 ** 32 - 1))).toString(16).padStart(8, "0");
}

/** So many bits in hexadecimal; more than 53 have zeros at their end. */
function digits(drawn: number, bits: number): string {
  return Math.floor(drawn * 2 ** bits)
    .toString(16)
    .padStart(bits / 4, "0");
}
