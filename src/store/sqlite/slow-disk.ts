/** A commit that takes longer than this is a slow disk's: there writes wait in any case, so what they need of a processor gives way to reads. */
const SLOW_COMMIT_MS = 4;
/** On a single core the writer's thread rests after so much of a batch ... */
const WORK_MS = 0.2;
/** ... for so long. */
const REST_MS = 0.4;
/** Writes of one commit that are answered before it is looked for reads again. */
const ANSWERS_IN_A_TURN = 4;

/** Whether a commit, if there was one, took as long as on a slow disk. */
function isSlow(commitMs: number | undefined): boolean {
  return commitMs !== undefined && commitMs > SLOW_COMMIT_MS;
}

/** Lets the thread that answers have the only core now and then, where the last commit was a slow disk's. */
export function restsAtWork() {
  const isOnlyCore = navigator.hardwareConcurrency === 1;
  // Nobody wakes it: it ends by itself.
  const bed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let isDue = false;
  let since = 0;
  return {
    begin(lastCommitMs: number | undefined): void {
      isDue = isOnlyCore && isSlow(lastCommitMs);
      if (isDue) since = performance.now();
    },
    take(): void {
      if (!isDue || performance.now() - since < WORK_MS) return;
      Atomics.wait(bed, 0, 0, REST_MS);
      since = performance.now();
    },
  };
}

/** Answers what one commit brought: at once, or on a slow disk some in each turn of the event loop, with reads between. */
export function answersInTurns<T>(answer: (outcome: T) => void) {
  let left: T[] = [];
  const some = () => {
    left.splice(0, ANSWERS_IN_A_TURN).forEach(answer);
    if (left.length > 0) setImmediate(some);
  };
  const all = () => {
    left.splice(0).forEach(answer);
  };
  return {
    add(outcomes: readonly T[], commitMs: number | undefined): void {
      if (!isSlow(commitMs)) {
        all();
        outcomes.forEach(answer);
      } else if (left.length > 0) left = left.concat(outcomes);
      else {
        left = [...outcomes];
        some();
      }
    },
    all,
  };
}
