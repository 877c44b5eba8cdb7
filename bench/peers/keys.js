import { createHash } from "node:crypto";
import { Refused } from "./shop.js";

const REMEMBERED = 1_000_000;

/** Who a key belongs to: found by its hash, then remembered. */
export function keysOf(shop) {
  const { known, learned } = memory();
  return (key) => known(key) ?? learned(key, shop.keyByHash(hashOf(key)));
}

/** The same for a shop across a network: a promise only for a key that is new. */
export function awaitedKeysOf(shop) {
  const { known, learned } = memory();
  return (key) => known(key) ?? shop.keyByHash(hashOf(key)).then((found) => learned(key, found));
}

function memory() {
  let remembered = new Map();
  return {
    known(key) {
      if (!key) throw new Refused(401, "missing_api_key", "Send an API key as X-API-Key.");
      return remembered.get(key);
    },
    learned(key, found) {
      if (!found) throw new Refused(401, "invalid_api_key", "The API key is unknown.");
      if (remembered.size >= REMEMBERED) remembered = new Map();
      remembered.set(key, found);
      return found;
    },
  };
}

function hashOf(key) {
  return createHash("sha256").update(key).digest("hex");
}
