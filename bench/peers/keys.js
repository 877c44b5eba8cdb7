import { createHash } from "node:crypto";
import { Refused } from "./shop.js";

const REMEMBERED = 1_000_000;

/** Who a key belongs to: found by its hash, then remembered. */
export function keysOf(shop) {
  let remembered = new Map();
  return (key) => {
    if (!key) throw new Refused(401, "missing_api_key", "Send an API key as X-API-Key.");
    const known = remembered.get(key);
    if (known) return known;
    const found = shop.keyByHash(createHash("sha256").update(key).digest("hex"));
    if (!found) throw new Refused(401, "invalid_api_key", "The API key is unknown.");
    if (remembered.size >= REMEMBERED) remembered = new Map();
    remembered.set(key, found);
    return found;
  };
}
