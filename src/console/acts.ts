import { PreconditionFailedError } from "../../client/src/index.ts";
import { openAgain } from "./address.ts";
import { agreed, openDialog } from "./dialog.ts";
import type { Child } from "./dom.ts";
import { failed } from "./list.ts";
import { tell } from "./notices.ts";
import { meanAnew } from "./repeats.ts";
import { isAbort } from "./words.ts";

interface Act {
  /** What is told when it is done; nothing where the page shows it. */
  readonly done?: string;
  readonly act: () => PromiseLike<unknown>;
  /** What follows when it is done. */
  readonly after?: () => unknown;
}

/** Does something at the press of a button; what is refused is explained, and can be tried again. */
export async function perform(asked: Act): Promise<void> {
  meanAnew();
  await attempt(asked);
}

async function attempt(asked: Act): Promise<void> {
  const { done, act, after } = asked;
  try {
    await act();
  } catch (error) {
    if (isAbort(error)) return;
    const isStale = error instanceof PreconditionFailedError;
    openDialog("That did not work", (close) =>
      failed(
        error,
        () => {
          close();
          return isStale ? openAgain() : attempt(asked);
        },
        isStale ? "Look at it as it is now" : "Try again",
      ),
    );
    return;
  }
  if (done !== undefined) tell(done);
  await after?.();
}

interface Asked extends Act {
  readonly title: string;
  readonly text: Child;
  readonly verb: string;
}

/** Asks first. */
export async function performIfAgreed({ title, text, verb, ...act }: Asked): Promise<void> {
  if (await agreed({ title, text, verb })) await perform(act);
}
