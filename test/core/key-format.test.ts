import { expect, test } from "bun:test";
import { hashOf, isWellFormed, KEY_BYTES, keyFrom, redacted } from "../../src/core/key-format.ts";

const bytes = Uint8Array.from({ length: KEY_BYTES }, (_, index) => index * 7);
const key = keyFrom(bytes);

test("a key is a prefix, 43 characters of secret and 6 of checksum, all base62", () => {
  expect(key).toMatch(/^ps_live_[0-9A-Za-z]{49}$/);
  expect(KEY_BYTES * 8).toBe(256);
});

test("the secret is all of the random bytes", () => {
  for (const fill of [0, 255]) expect(isWellFormed(keyFrom(new Uint8Array(KEY_BYTES).fill(fill)))).toBe(true);
  expect(keyFrom(new Uint8Array(KEY_BYTES))).toStartWith(`ps_live_${"0".repeat(43)}`);
  for (let index = 0; index < KEY_BYTES; index++) {
    const other = Uint8Array.from(bytes);
    other[index]! ^= 1;
    expect(keyFrom(other)).not.toBe(key);
  }
  expect(keyFrom(bytes)).toBe(key);
});

test("every typo of one character is found without a look-up", () => {
  expect(isWellFormed(key)).toBe(true);
  for (let index = 0; index < key.length; index++) {
    const typo = key[index] === "x" ? "y" : "x";
    expect(isWellFormed(key.slice(0, index) + typo + key.slice(index + 1))).toBe(false);
  }
});

test("two swapped neighbours are found without a look-up", () => {
  for (let index = 0; index + 1 < key.length; index++) {
    const swapped = key.slice(0, index) + key[index + 1] + key[index] + key.slice(index + 2);
    if (swapped !== key) expect(isWellFormed(swapped)).toBe(false);
  }
});

test.each(["", "ps_live_", key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`, key.replace("live", "test")])(
  "%j is not a key",
  (text) => {
    expect(isWellFormed(text)).toBe(false);
  },
);

test("what is stored of a key is its SHA-256", () => {
  expect(hashOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("a text shows no key, nor what was typed as one", () => {
  expect(redacted("nothing to hide")).toBe("nothing to hide");
  expect(redacted(`/pets?key=${key}&a=${key}`)).toBe("/pets?key=ps_live_[redacted]&a=ps_live_[redacted]");
  expect(redacted(`${key.slice(0, 20)}-rest`)).toBe("ps_live_[redacted]-rest");
});
