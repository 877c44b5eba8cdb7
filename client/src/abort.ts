/** What is done by a signal's one listener. */
interface Listening {
  readonly acts: Set<() => void>;
  readonly tell: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Does it when the signal aborts, until what it gives is called. A signal has one listener, however many calls share it: Node
 * takes more than ten for a leak. After the last of them it has none: with one, a signal that `AbortSignal.any` made lives as
 * long as those that it was made of.
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (!signal) return () => {};
  let known = listening.get(signal);
  if (!known) {
    const acts = new Set<() => void>();
    known = { acts, tell: () => acts.forEach((each) => void each()) };
    listening.set(signal, known);
    signal.addEventListener("abort", known.tell);
  }
  const { acts, tell } = known;
  acts.add(act);
  return () => {
    // What is called a second time leaves alone who listens by then.
    if (!acts.delete(act) || acts.size > 0) return;
    signal.removeEventListener("abort", tell);
    listening.delete(signal);
  };
}
