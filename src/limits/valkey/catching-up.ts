import type { Reply } from "./driver.ts";
import type { Send } from "./link.ts";
import type { Missed, Owns } from "./missed.ts";
import { NotDone } from "./not-done.ts";
import { conductArgs } from "./replies.ts";

/** Windows and conducts that are told at once; the last of them are sent just ahead of the first request. */
const AT_ONCE = 500;

export interface CatchingUp {
  /** Tells a node what it has missed of its slots, but for a rest that is small. */
  catchUp(send: Send, owns: Owns): Promise<void>;
  /** Sends the rest: on its way before the first request is, on the same connection, so that nothing comes in between. */
  tellRest(send: Send, owns: Owns): void;
}

export function catchingUp(meanwhile: Missed, time: () => string, strikeWindowMs: string): CatchingUp {
  const tell = (send: Send, owns: Owns): Promise<Reply>[] => {
    const { windows, conducts } = meanwhile.take(AT_ONCE, owns);
    return [
      ...windows.map((each) => {
        const { name, keptSeconds, day, dayCount, minuteOpenedAt, minuteCount } = each;
        const counts = [keptSeconds, day, dayCount, minuteOpenedAt, minuteCount].map(String);
        return send("addWindows", name, time(), ...counts).catch((error) => {
          // Without an answer it may have been added, and is not sent again.
          if (error instanceof NotDone) meanwhile.giveBack(each);
          throw error;
        });
      }),
      ...conducts.map((each) => {
        const { name, conduct, bannedUntil, lifts } = each;
        const args = [time(), String(lifts), strikeWindowMs, ...conductArgs(conduct), String(bannedUntil)];
        return send("addConduct", name, ...args).catch((error) => {
          // The most strikes are taken, not the sum: what may have been added can be sent again.
          meanwhile.giveBackConduct(each);
          throw error;
        });
      }),
    ];
  };
  return {
    async catchUp(send, owns) {
      while (meanwhile.sizeFor(owns) > AT_ONCE) await Promise.all(tell(send, owns));
    },
    tellRest(send, owns) {
      while (meanwhile.sizeFor(owns) > 0) for (const sent of tell(send, owns)) sent.catch(() => {});
    },
  };
}
