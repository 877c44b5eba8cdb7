import { KEY_BYTES, keyFrom } from "../src/core/key-format.ts";
import { cursorAfter } from "../src/core/pages.ts";

/** The page of pets after an id. Our cursors are no secret, and the peers take the same. */
export function pageAfter(id: number): string {
  return `/pets?cursor=${cursorAfter("pets", "id", { key: id, id })}`;
}

/** Keys that are well formed, and nobody's. */
export function unknownKeys(count: number): string[] {
  return Array.from({ length: count }, () => keyFrom(crypto.getRandomValues(new Uint8Array(KEY_BYTES))));
}
