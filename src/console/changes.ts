import { type Answer, PreconditionFailedError } from "../../client/src/index.ts";
import { openDialog } from "./dialog.ts";
import { failed } from "./list.ts";
import { isAbort } from "./words.ts";

type Read<T> = () => Promise<Answer<T>>;
type Change<R> = (ifMatch: string | undefined) => PromiseLike<R>;

/**
 * Changes a record as it was when it was read. If somebody else changed it meanwhile, that is said, with what it is now: whoever saves
 * again means it.
 */
export function guarded<T>(first: Pick<Answer<T>, "etag">, read: Read<T>, wordsOf: (now: T) => string) {
  let { etag } = first;
  return async <R>(change: Change<R>): Promise<R> => {
    try {
      return await change(etag);
    } catch (error) {
      if (!(error instanceof PreconditionFailedError)) throw error;
      const now = await read();
      etag = now.etag;
      throw new Error(
        `Somebody changed this in the meantime: it is now ${wordsOf(now.data)}. Save again to put your entries in its place, or cancel to keep it so.`,
      );
    }
  };
}

/** How often a record was asked for. */
let asked = 0;

/** Reads a record as it is now, and opens what is to be done with it, unless another was asked for or the page was left meanwhile. */
export async function withRecord<T>(read: Read<T>, open: (answer: Answer<T>) => void): Promise<void> {
  asked += 1;
  const [time, place] = [asked, location.hash];
  const isMeant = () => time === asked && place === location.hash;
  let answer: Answer<T>;
  try {
    answer = await read();
  } catch (error) {
    if (isAbort(error) || !isMeant()) return;
    const again = (close: () => void) => () => [close(), withRecord(read, open)];
    openDialog("That did not work", (close) => failed(error, again(close)));
    return;
  }
  if (isMeant()) open(answer);
}
