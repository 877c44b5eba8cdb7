// What three instances must survive: the short form of each is a test, the long form is proven by `npm run prove`.
import { accessChanges } from "./access-changes.ts";
import { instanceFaults } from "./instance-faults.ts";
import type { Outcome } from "./judge.ts";
import { postgresFaults } from "./postgres-faults.ts";
import { sales } from "./sales.ts";
import { valkeyFaults } from "./valkey-faults.ts";
import type { World } from "./world.ts";

export interface Length {
  /** How long the fault lasts, or how often it comes. */
  readonly ms: number;
  /** Chance that can be had again from its seed: from 0 to less than 1. */
  readonly random: () => number;
}

export interface Scenario {
  readonly name: string;
  readonly shortMs: number;
  readonly longMs: number;
  run(world: World, length: Length): Promise<Outcome>;
}

export const scenarios: readonly Scenario[] = [
  ...sales,
  ...accessChanges,
  ...valkeyFaults,
  ...postgresFaults,
  ...instanceFaults,
];

/** The same numbers from the same seed (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
