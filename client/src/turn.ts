import type { CallOptions } from "./options.ts";
import type { Leave, Pace } from "./pace.ts";
import type { Route } from "./route.ts";

/** Waits for a call's turn. */
export type Turn = (route: Route, signal: AbortSignal | undefined, isRetry: boolean) => Promise<Leave>;

/** A call's turn. Before it is refused for a day that was spent, the server is asked whether that still holds. */
export function turns(pace: Pace, ask: (options: CallOptions) => Promise<unknown>): Turn {
  return async (route, signal, isRetry) => {
    if (route.isUncounted) return pace.pass();
    if (pace.isInDoubt()) await ask({ signal, maxRetries: 0 }).catch(() => {});
    return pace.enter(route.what, signal, isRetry);
  };
}
