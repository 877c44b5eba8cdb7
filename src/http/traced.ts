import { Failure } from "../core/failure.ts";
import type { Awaitable } from "../core/ports.ts";
import type { Handling, Span } from "./exchange.ts";
import type { Store } from "./operate.ts";

/**
 * The house as a request that is followed meets it: what it waits for there is told to its span, and what is there at once is not. Those that
 * are not followed meet the house itself, so that nothing of this costs them anything.
 */
export function traced(house: Handling): (span: Span) => Handling {
  const { store, callers, limits, settle } = house;
  return (span) => ({
    ...house,
    store: storeOf(store, span),
    callers: {
      identify: (...asked) => noted(span, "callers", "identify", () => callers.identify(...asked)),
      forget: callers.forget,
    },
    limits: {
      admit: (...asked) => noted(span, "limits", "admit", () => limits.admit(...asked)),
      admitAddress: (...asked) => noted(span, "limits", "admitAddress", () => limits.admitAddress(...asked)),
      ask: (...asked) => noted(span, "limits", "ask", () => limits.ask(...asked)),
    },
    settle: async () => noted(span, "behind", "settle", settle),
  });
}

/** Every question and every write of the store, by its own name. */
function storeOf(store: Store, span: Span): Store {
  return new Proxy(store, {
    get:
      (asked, step: keyof Store & string) =>
      (...input: unknown[]) =>
        noted(span, "store", step, () => (asked[step] as (...input: unknown[]) => unknown)(...input)),
  });
}

function noted<T>(span: Span, part: string, step: string, work: () => Awaitable<T>): Awaitable<T> {
  const from = performance.now();
  const value = work();
  if (!(value instanceof Promise)) return value;
  const end = (errorType?: string) => span.waited(part, step, from, performance.now(), errorType);
  return value.then(
    (there) => {
      end();
      return there;
    },
    (error) => {
      end(errorTypeOf(error));
      throw error;
    },
  );
}

/** What a caller is refused by the rules is no error of the part that says so. */
function errorTypeOf(error: unknown): string | undefined {
  if (!(error instanceof Failure)) return error instanceof Error ? error.name : "unknown";
  return error.status >= 500 ? error.code : undefined;
}
