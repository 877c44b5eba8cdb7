import { createHash } from "node:crypto";
import { Refused } from "./shop.js";

const REMEMBERED = 1_000_000;
const REMEMBERED_REFUSALS = 10_000;

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

// Made once: a refusal costs no stack trace.
const missing = new Refused(401, "missing_api_key", "Send an API key as X-API-Key.");
const unknown = new Refused(401, "invalid_api_key", "The API key is unknown.");

/** Keys that were found, and some of those that were not: a program that goes on with a wrong key costs no more look-ups. */
function memory() {
  let remembered = new Map();
  const refused = new Set();
  return {
    known(key) {
      if (!key) throw missing;
      const found = remembered.get(key);
      if (!found && refused.has(key)) throw unknown;
      return found;
    },
    learned(key, found) {
      if (!found) {
        if (refused.size >= REMEMBERED_REFUSALS) refused.clear();
        refused.add(key);
        throw unknown;
      }
      if (remembered.size >= REMEMBERED) remembered = new Map();
      remembered.set(key, found);
      return found;
    },
  };
}

function hashOf(key) {
  return createHash("sha256").update(key).digest("hex");
}
