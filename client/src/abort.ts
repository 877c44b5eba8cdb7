const acts = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Does it when the signal aborts, until what it gives is called. A signal has one listener, however many calls share it: Node
 * takes more than ten for a leak.
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (!signal) return () => {};
  const all = acts.get(signal) ?? new Set();
  if (!acts.has(signal)) {
    acts.set(signal, all);
    signal.addEventListener("abort", () => {
      for (const each of all) each();
    });
  }
  all.add(act);
  return () => all.delete(act);
}
