/** How soon what another instance did, or what has become due, is noticed. */
const LOOK_EVERY_MS = 500;
/** How soon a look comes that was asked for during another one. */
const AFTER_A_LOOK_MS = 2;

/** When it is looked whether there is something to do: never twice at once, and soon after somebody asks for it. */
export interface Looks {
  readonly lookOnce: () => Promise<void>;
  readonly onFault: (error: unknown) => void;
  readonly stopping: AbortSignal;
  /** The look that goes on. */
  looking: Promise<void> | undefined;
  /** Another is to follow the one that goes on. */
  isDueAgain: boolean;
  /** The one that was asked for. */
  next: { readonly at: number; readonly timer: Timer } | undefined;
  endedAt: number;
  /** How long others have the machine after each. */
  restMs: number;
}

/** Looks every so often, until it is to stop. */
export function startLooks({
  lookOnce,
  onFault,
  stopping,
}: Pick<Looks, "lookOnce" | "onFault" | "stopping">): Looks {
  const looks: Looks = {
    lookOnce,
    onFault,
    stopping,
    looking: undefined,
    isDueAgain: false,
    next: undefined,
    endedAt: 0,
    restMs: 0,
  };
  const timer = setInterval(() => look(looks), LOOK_EVERY_MS);
  timer.unref();
  stopping.addEventListener("abort", () => {
    clearInterval(timer);
    clearTimeout(looks.next?.timer);
  });
  return looks;
}

/** Has it looked in so long, or sooner if somebody else asked for that. */
export function lookIn(looks: Looks, milliseconds: number): void {
  const { next, stopping } = looks;
  const now = performance.now();
  const at = Math.max(now + milliseconds, looks.endedAt + looks.restMs);
  if (stopping.aborted || (next && next.at <= at)) return;
  clearTimeout(next?.timer);
  const timer = setTimeout(() => {
    looks.next = undefined;
    look(looks);
  }, at - now);
  looks.next = { at, timer };
}

function look(looks: Looks): void {
  if (looks.looking) {
    looks.isDueAgain = true;
    return;
  }
  looks.looking = looks
    .lookOnce()
    .catch(looks.onFault)
    .finally(() => {
      looks.looking = undefined;
      looks.endedAt = performance.now();
      if (looks.isDueAgain) lookIn(looks, AFTER_A_LOOK_MS);
      looks.isDueAgain = false;
    });
}
