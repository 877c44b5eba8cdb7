import { type LocalLimits, type MemoryOptions, memoryLimits } from "../memory.ts";
import { type KeyNames, keyNames } from "./keys.ts";
import type { Send } from "./link.ts";
import { type Missed, missed } from "./missed.ts";

export interface InstanceOptions extends MemoryOptions {
  /** Before every key, so that several stores can share a Valkey. */
  readonly prefix: string;
  /** Valkey's own clock judges; a test that moves time by hand gives its own. */
  readonly clock: "server" | (() => number);
}

/** What one of the instances that share a Valkey knows by itself, and how it speaks to it. */
export interface Instance {
  readonly options: InstanceOptions;
  /** Sees every count that comes back, and goes on from there while Valkey is away. */
  readonly memory: LocalLimits;
  readonly meanwhile: Missed;
  readonly names: KeyNames;
  /** The rules of bans, as scripts read them. */
  readonly rules: readonly string[];
  readonly strikeWindowMs: string;
  /** The time, as scripts read it: nothing where Valkey's own clock judges. */
  readonly time: () => string;
  limitedFromMemory: number;
}

/** The way to who owns a key; null while that one is away. */
export type To = (name: string) => Send | null;

export function instanceOf(options: InstanceOptions): Instance {
  const { bans, clock, prefix } = options;
  const strikeWindowMs = String(bans.strikeWindowSeconds * 1000);
  return {
    options,
    memory: memoryLimits(options),
    meanwhile: missed(),
    names: keyNames(prefix),
    rules: [String(bans.strikes), strikeWindowMs, String(bans.graceSeconds * 1000), bans.minutes.join(",")],
    strikeWindowMs,
    time: () => (clock === "server" ? "" : String(clock())),
    limitedFromMemory: 0,
  };
}
