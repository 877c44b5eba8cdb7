import type { Reads } from "../core/ports.ts";

/** Looks whether another process has changed who may do what, one look at a time; what is not known is taken for a change. */
export function accessWatch(store: Pick<Reads, "accessRevision">, forget: () => void): () => Promise<void> {
  let revision: number | undefined;
  let isLooking = false;
  return async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const latest = await store.accessRevision();
      if (latest !== revision) forget();
      revision = latest;
    } catch {
      forget();
    } finally {
      isLooking = false;
    }
  };
}
