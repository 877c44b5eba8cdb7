// What a header costs grows with its length, not with its square: of so long ones that would be minutes, and these tests would not end.
import { expect, test } from "bun:test";
import { Failure } from "../../src/core/failure.ts";
import { addressReader } from "../../src/http/address.ts";
import { cookieReader } from "../../src/http/console/cookie.ts";
import { ifMatchTags, noneMatchHits, requireAccepted, safeRequestId } from "../../src/http/headers.ts";
import { rehearsalOf } from "../../src/http/rehearsal.ts";
import { parentOf } from "../../src/traces/context.ts";

const LENGTH = 100_000;

function only(name: string, value: string) {
  const values: Record<string, string> = { "x-petstore-console": "1", [name]: value };
  return { headers: { get: (asked: string) => values[asked] ?? null }, peer: "127.0.0.1" };
}

const cookies = cookieReader(0);
const addresses = addressReader(1);
const readers: Readonly<Record<string, (value: string) => unknown>> = {
  Cookie: (value) => cookies.sessionOf(only("cookie", value)),
  Prefer: rehearsalOf,
  "If-Match": ifMatchTags,
  "If-None-Match": (value) => noneMatchHits(value, "p1"),
  Accept: (value) => requireAccepted(value, "application/json"),
  "X-Request-Id": safeRequestId,
  "X-Forwarded-For": (value) => addresses("127.0.0.1", value),
  traceparent: (value) => parentOf(value, value),
};
const beginnings = ["", "petstore_console=a", "a=", "simulate=", '"', 'W/"', "["];
const repeated = [" ", "\t", '"', '\\"', "\\", ",", ";", ", ", '", ', "]", "a", "0", "=", ":", "\u00a0"];
const ends = ["", "x", '"', "\\"];

test.each(Object.keys(readers))("%s of any make is read in one go", (name) => {
  let read = 0;
  for (const beginning of beginnings)
    for (const part of repeated)
      for (const end of ends) {
        try {
          readers[name]?.(beginning + part.repeat(LENGTH / part.length) + end);
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
        }
        read++;
      }
  expect(read).toBe(beginnings.length * repeated.length * ends.length);
});
