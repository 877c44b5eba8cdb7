import type { LimitedKey } from "../../core/ports.ts";
import type { Reply } from "./driver.ts";
import type { Send } from "./link.ts";

/** Requests that one script judges at most: while it runs, that server answers nobody else. */
const MOST_IN_A_SCRIPT = 100;

/** Sends the requests of a key, so many at once, and gives a reply to each. */
type Ask = (send: Send, key: LimitedKey, isFree: boolean, requests: number) => Promise<readonly Reply[]>;

interface Turn {
  requests: number;
  readonly replies: Promise<readonly Reply[]>;
}

/** Requests of one key that come in one turn of the event loop are asked together, and judged one after the other. */
export function askedTogether(ask: Ask): (send: Send, key: LimitedKey, isFree: boolean) => Promise<Reply> {
  const turns = { free: new Map<number, Turn>(), counted: new Map<number, Turn>() };
  return (send, key, isFree) => {
    const { keyId } = key;
    const open = isFree ? turns.free : turns.counted;
    let turn = open.get(keyId);
    if (!turn || turn.requests === MOST_IN_A_SCRIPT) {
      const { promise, resolve } = Promise.withResolvers<readonly Reply[]>();
      const begun: Turn = { requests: 0, replies: promise };
      process.nextTick(() => {
        if (open.get(keyId) === begun) open.delete(keyId);
        resolve(ask(send, key, isFree, begun.requests));
      });
      open.set(keyId, begun);
      turn = begun;
    }
    const place = turn.requests++;
    return turn.replies.then((replies) => replies[place] as Reply);
  };
}
