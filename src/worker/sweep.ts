import { DAY_MS } from "../contract/days.ts";
import { ANSWERS_KEPT_MS, type Performed } from "../core/perform.ts";

export const SWEEP_EVERY_MS = 60_000;

export interface Sweeping {
  /** Does one of the server's own operations. */
  readonly perform: (operation: string, input: unknown) => Promise<Performed>;
  /** Drops kept answers older than this, when there is time for it. */
  readonly forgetAnswers: (keptBefore: number) => void;
  readonly clock: () => number;
  readonly isStopping: () => boolean;
  /** Of one kind of what is old; the others are dropped all the same. */
  readonly onFault: (error: unknown) => void;
  readonly usageKeptDays: number;
  /** 0 keeps them for ever. */
  readonly eventsKeptDays: number;
  readonly deliveriesKeptDays: number;
}

/** Drops what is older than it is kept; of several instances one does it. */
export async function sweep(sweeping: Sweeping): Promise<void> {
  const { perform, forgetAnswers, clock, onFault } = sweeping;
  const { body: isOurs } = await perform("behind.takeSweep", { until: clock() + SWEEP_EVERY_MS });
  if (!isOurs) return;
  forgetAnswers(clock() - ANSWERS_KEPT_MS);
  for (const drop of [forgetOver, forgetUsage, forgetEvents, forgetRemoved, forgetDeliveries])
    await drop(sweeping).catch(onFault);
}

/** Sessions, and what was noted of runs. */
function forgetOver(sweeping: Sweeping): Promise<void> {
  return forget(sweeping, "behind.forget", {});
}

function forgetUsage(sweeping: Sweeping): Promise<void> {
  const beforeDay = Math.floor(sweeping.clock() / DAY_MS) - sweeping.usageKeptDays;
  return forget(sweeping, "behind.forgetUsage", { beforeDay });
}

async function forgetEvents(sweeping: Sweeping): Promise<void> {
  const { clock, eventsKeptDays } = sweeping;
  if (eventsKeptDays > 0)
    await forget(sweeping, "behind.forgetEvents", { olderThan: clock() - eventsKeptDays * DAY_MS });
}

function forgetDeliveries(sweeping: Sweeping): Promise<void> {
  const { clock, deliveriesKeptDays } = sweeping;
  return forget(sweeping, "delivering.forget", { before: clock() - deliveriesKeptDays * DAY_MS });
}

/** Step by step: between two of them whoever waits can write. */
async function forget({ perform, isStopping }: Sweeping, operation: string, input: unknown): Promise<void> {
  for (let isDone = false; !isDone && !isStopping(); ) {
    const { body } = await perform(operation, input);
    ({ isDone } = body as { isDone: boolean });
  }
}

/** Deliveries of removed webhooks, whatever their age. */
async function forgetRemoved({ perform, isStopping }: Sweeping): Promise<void> {
  for (let after: number | null = 0; after !== null && !isStopping(); ) {
    const { body } = await perform("delivering.forgetRemoved", { after });
    ({ after } = body as { after: number | null });
  }
}
