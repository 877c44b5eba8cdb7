import { existsSync } from "node:fs";

const PAGE_BYTES = 4096;

/**
 * Keeps a store's file in memory. Some machines take pages back that nobody has mapped and hardly anybody read for a minute,
 * however much is free: a store that waited for calm would be read from the disk. What is no file, as on PostgreSQL, stays as it is.
 */
export function resident(path: string): Disposable {
  const held = new Set(existsSync(path) ? [mapped(path)] : []);
  return {
    [Symbol.dispose]() {
      // The mapping goes when it is collected: nothing ends one by hand.
      held.clear();
    },
  };
}

/** A page is mapped when it is read; the sum is kept so that no compiler leaves the reading out. */
function mapped(path: string): { readonly pages: Uint8Array; readonly sum: number } {
  const pages = Bun.mmap(path);
  let sum = 0;
  for (let at = 0; at < pages.length; at += PAGE_BYTES) sum += pages[at] as number;
  return { pages, sum };
}
