import { describe, expect, test } from "bun:test";
import { KEY_BYTES, keyFrom } from "../../src/core/key-format.ts";
import type { KnownCaller } from "../../src/http/caller.ts";
import { CallerTable, NOWHERE } from "../../src/http/caller-table.ts";

const NOON = Date.parse("2026-11-15T12:00:00Z");

function aKey(): string {
  return keyFrom(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
}

/** One of many, in which hardly anything is as with the next. */
function callerOf(n: number): KnownCaller {
  return {
    keyId: 2 ** 40 + n,
    clientId: 2 ** 52 - n,
    role: (["customer", "staff", "admin"] as const)[n % 3] as KnownCaller["role"],
    perMinute: 60 + (n % 5),
    perDay: 10_000,
    bannedUntil: n % 7 === 0 ? NOON + n : null,
    lifts: n % 2,
    expiresAt: n % 4 === 0 ? NOON + n + 0.5 : null,
  };
}

function withKey(key: string): CallerTable {
  const table = new CallerTable();
  table.put(key, callerOf(1), NOON);
  return table;
}

describe("a table of callers", () => {
  test("has nobody at first", () => {
    const table = new CallerTable();
    expect(table.size).toBe(0);
    expect(table.find(aKey())).toBe(NOWHERE);
  });

  test("gives everybody back as they were put in while it grows", () => {
    const table = new CallerTable();
    const keys = Array.from({ length: 10_000 }, aKey);
    for (const [n, key] of keys.entries()) table.put(key, callerOf(n), NOON + n * 1000);
    expect(table.size).toBe(keys.length);
    for (const [n, key] of keys.entries()) {
      const row = table.find(key);
      expect(table.callerAt(row)).toEqual(callerOf(n));
      expect(table.usedAt(row)).toBe(NOON + n * 1000);
    }
    expect(table.find(aKey())).toBe(NOWHERE);
  });

  test("knows the last use of a key to the second", () => {
    const key = aKey();
    const table = withKey(key);
    const row = table.find(key);
    table.use(row, NOON + 61_999);
    expect(table.usedAt(row)).toBe(NOON + 61_000);
    expect(table.callerAt(row)).toEqual(callerOf(1));
  });

  test("has a key once, with what was put in last", () => {
    const key = aKey();
    const table = withKey(key);
    table.put(key, callerOf(8), NOON + 5000);
    expect(table.size).toBe(1);
    expect(table.callerAt(table.find(key))).toEqual(callerOf(8));
  });

  test("does not take a key for another that differs in one character, whichever it is, right after that one", () => {
    const key = aKey();
    const table = withKey(key);
    for (let at = 0; at < key.length; at++)
      for (const other of ["0", "z", "\0", "ÿ", "€"]) {
        expect(table.find(key)).toBe(0);
        if (key[at] !== other) expect(table.find(key.slice(0, at) + other + key.slice(at + 1))).toBe(NOWHERE);
      }
  });

  test("does not take the beginning of a key, or a key and more, for it", () => {
    const key = aKey();
    const table = withKey(key);
    for (const text of ["", key.slice(0, -1), key.slice(1), `${key}0`, `${key}\0`, ` ${key}`, key.repeat(2)])
      expect(table.find(text)).toBe(NOWHERE);
  });
});
