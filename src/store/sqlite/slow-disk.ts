/** A commit that takes longer than this is a slow disk's: there writes wait in any case, so what they need of a processor gives way to reads. */
const SLOW_COMMIT_MS = 4;
/** On a single core the writer's thread rests after so much of a batch ... */
const WORK_MS = 0.2;
/** ... for so long. */
const REST_MS = 0.6;
/** Writes of one commit that are answered before it is looked for reads again. */
const ANSWERS_IN_A_TURN = 4;
/** Turns after the last of these answers in which whoever was answered may write again, and goes into one commit with the others. */
const TURNS_TO_COME_AGAIN = 6;

const isOnlyCore = navigator.hardwareConcurrency === 1;

/** Whether a commit, if there was one, took as long as on a slow disk. */
function isSlow(commitMs: number | undefined): commitMs is number {
  return commitMs !== undefined && commitMs > SLOW_COMMIT_MS;
}

/** Lets the thread that answers have the only core now and then, where the last commit was a slow disk's. */
export function restsAtWork() {
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
export function answersInTurns<T>(answer: (outcome: T) => void, isOnly = isOnlyCore) {
  let left: T[] = [];
  let keptUntil = 0;
  let turnsToCome = 0;
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
        return;
      }
      keptUntil = performance.now() + commitMs;
      turnsToCome = TURNS_TO_COME_AGAIN;
      const isTelling = left.length > 0;
      left = left.concat(outcomes);
      if (!isTelling) some();
    },
    all,
    /**
     * Asked once in a turn in which writes have come: whether the writer is told of them later. On a single core it would begin
     * with the first few while the others are still being answered, and they would wait for a commit of their own. None waits
     * longer than the last commit took.
     */
    keepsWrites(): boolean {
      if (!isOnly || performance.now() >= keptUntil) return false;
      if (left.length === 0) turnsToCome--;
      return turnsToCome >= 0;
    },
  };
}
