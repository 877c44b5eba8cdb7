import { failureReasons } from "../contract/webhook-shapes.ts";
import { newRow, observe } from "./histogram.ts";

/** Seconds: receivers have 15. */
export const TRY_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** What came of a try: a success, or why not. */
type Outcome = "delivered" | (typeof failureReasons)[number];
type Ending = "delivered" | "failed";
type Disabled = "gone" | "failing";

/** What is sent to webhooks, counted as it happens. */
export interface WebhookMeter {
  readonly trySeconds: Float64Array;
  readonly tries: Readonly<Record<Outcome, number>>;
  readonly endings: Readonly<Record<Ending, number>>;
  readonly disabled: Readonly<Record<Disabled, number>>;
  /** A try took so long; without a reason it is a success. */
  tried(reason: (typeof failureReasons)[number] | null, milliseconds: number): void;
  /** A delivery was delivered, or given up. */
  ended(state: Ending): void;
  /** A webhook was disabled because of its receiver. */
  disabledFor(reason: Disabled): void;
}

export function webhookMeter(): WebhookMeter {
  const trySeconds = newRow(TRY_SECONDS);
  // Nothing is sent that a webhook may not see, so no try ends so.
  const reasons = failureReasons.filter((reason) => reason !== "not_permitted");
  const tries = Object.fromEntries(["delivered", ...reasons].map((outcome) => [outcome, 0])) as Record<
    Outcome,
    number
  >;
  const endings = { delivered: 0, failed: 0 };
  const disabled = { gone: 0, failing: 0 };
  return {
    trySeconds,
    tries,
    endings,
    disabled,
    tried(reason, milliseconds) {
      observe(trySeconds, TRY_SECONDS, milliseconds / 1000);
      tries[reason ?? "delivered"] += 1;
    },
    ended(state) {
      endings[state] += 1;
    },
    disabledFor(reason) {
      disabled[reason] += 1;
    },
  };
}
