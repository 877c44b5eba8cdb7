// A sweep of a test's store.
import { perform } from "../src/core/perform.ts";
import { rulesOf } from "../src/core/rules.ts";
import { type Sweeping, sweep } from "../src/worker/sweep.ts";
import type { TestStore } from "./harness.ts";

/** Sweeps as the server does once a minute; what was done, a step after another. */
export async function swept(
  { beside, clock, config }: TestStore,
  different: Partial<Sweeping> = {},
): Promise<string[]> {
  const steps: string[] = [];
  await sweep({
    perform(operation, input) {
      steps.push(operation);
      const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
      const command = { operation, caller, input, now: clock.now };
      return beside.transact((writes) => perform(writes, command, rulesOf(config)));
    },
    forgetAnswers: () => {},
    clock: () => clock.now,
    isStopping: () => false,
    onFault(error) {
      throw error;
    },
    usageKeptDays: 400,
    eventsKeptDays: 90,
    deliveriesKeptDays: 30,
    ...different,
  });
  // The duty is taken for a minute.
  clock.now += 60_000;
  return steps;
}
