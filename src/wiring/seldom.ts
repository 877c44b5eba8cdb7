/** How many times as long as it took it is not done again: at most a fiftieth of the time goes to it. */
const RESTS = 49;
/** However long it took. */
const LONGEST_REST_MS = 60_000;

/**
 * Work that whoever asks gets the outcome of, however many ask and however often: it is not begun again while it is under way, nor soon
 * after. What fails is done again when somebody asks.
 */
export function seldom<T>(work: () => Promise<T>, clock: () => number): () => Promise<T> {
  let last: Promise<T> | undefined;
  let rest: { readonly from: number; readonly until: number } | undefined;
  /** A clock that is set back ends it. */
  const isOver = (now: number) => rest !== undefined && (now < rest.from || now >= rest.until);
  const begin = async () => {
    const started = clock();
    try {
      const outcome = await work();
      const from = clock();
      rest = { from, until: from + Math.min(RESTS * (from - started), LONGEST_REST_MS) };
      return outcome;
    } catch (error) {
      last = undefined;
      throw error;
    }
  };
  return () => {
    if (last && !isOver(clock())) return last;
    rest = undefined;
    last = begin();
    return last;
  };
}
