import { fail } from "../core/failure.ts";

export const JSON_DEPTH = 32;
/** Values in a body, with those inside of others: the largest batch has a fifth of it. To parse millions would keep all others waiting. */
export const JSON_VALUES = 20_000;
/** A shorter number is exact, unless its exponent makes it so small that nothing is left of it. */
const LONG_NUMBER = 16;
/** Digits of a number that is still made exact: none that is wanted has more than 19, and a million of them take their time. */
const LONGEST_EXACT = 100;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The one JSON value of a body; integers past 2^53 come as bigints, so that none is ever rounded. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decoded(bytes);
  const { duplicate, mayBeRounded } = scanned(text);
  const value = parsed(text);
  if (duplicate !== undefined) {
    fail(
      "invalid_json",
      `The body has the key ${JSON.stringify(duplicate)} twice in one object. Send each key once.`,
    );
  }
  return mayBeRounded ? JSON.parse(text, exactly) : value;
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    fail("invalid_json", "The body is not valid UTF-8.");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (text.trim() === "") fail("invalid_json", "The body is empty. Send one JSON value.");
    fail(
      "invalid_json",
      `The body is not valid JSON: ${(error as Error).message.replace(/^JSON Parse error: /, "")}.`,
    );
  }
}

/** JSON.parse gives the source of each number to its reviver; what only rounding made an integer becomes no number. */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number") return value;
  const source = context?.source ?? "";
  if (Number.isSafeInteger(value)) return isWhole(source) ? value : Number.NaN;
  if (!/^-?\d+$/.test(source)) return value;
  return source.length > LONGEST_EXACT ? Math.sign(value) * Number.POSITIVE_INFINITY : BigInt(source);
}

/** Whether a number is an integer as it is written, and did not become one by rounding. */
function isWhole(source: string): boolean {
  const [mantissa = "", exponent = "0"] = source.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = whole + fraction;
  // Not by a pattern, which would try every zero of a long number anew.
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end--;
  const isZero = end === 0 || digits.charCodeAt(end - 1) === MINUS;
  return isZero || end <= whole.length + Number(exponent);
}

interface Scan {
  duplicate: string | undefined;
  mayBeRounded: boolean;
}

/** One pass over what may be JSON, before it is parsed: it goes no deeper and has no more values than is taken, and whether an object repeats a key. */
function scanned(text: string): Scan {
  const scan: Scan = { duplicate: undefined, mayBeRounded: false };
  let values = 1;
  // For each open bracket: the keys of an object, or null in an array.
  const open: (Set<string> | null)[] = [];
  let expectsKey = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = closingQuote(text, at);
      const keys = open.at(-1);
      if (expectsKey && keys) {
        const key = keyOf(text.slice(at + 1, end));
        if (keys.has(key)) scan.duplicate ??= key;
        keys.add(key);
        expectsKey = false;
      }
      at = end;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      open.push(code === OPEN_OBJECT ? new Set() : null);
      expectsKey = code === OPEN_OBJECT;
      values++;
      if (open.length > JSON_DEPTH)
        fail(
          "invalid_json",
          `The body is nested more than ${JSON_DEPTH} levels deep; at most so many are taken.`,
        );
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      open.pop();
    } else if (code === COMMA) {
      expectsKey = open.at(-1) instanceof Set;
      values++;
      if (values > JSON_VALUES)
        fail("invalid_json", `The body has more than ${JSON_VALUES} values; at most so many are taken.`);
    } else if (code >= ZERO && code <= NINE) {
      const start = at;
      let isSmall = false;
      while (isNumberPart(text.charCodeAt(at + 1))) if (text.charCodeAt(++at) === MINUS) isSmall = true;
      if (isSmall || at - start + 1 >= LONG_NUMBER) scan.mayBeRounded = true;
    }
  }
  return scan;
}

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

function closingQuote(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** A key as it is meant; one that is no text is refused when the whole is parsed. */
function keyOf(written: string): string {
  if (!written.includes("\\")) return written;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return written;
  }
}

/** A digit, or what may stand in a number after one. */
function isNumberPart(code: number): boolean {
  return (
    (code >= ZERO && code <= NINE) || code === 43 || code === 45 || code === 46 || code === 69 || code === 101
  );
}
