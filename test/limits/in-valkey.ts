import type { MemoryOptions } from "../../src/limits/memory.ts";
import { type ValkeyLimits, valkeyLimits } from "../../src/limits/valkey/limits.ts";
import { NOON } from "../harness.ts";
import type { ValkeyServer } from "../servers/valkey.ts";
import { RULES } from "./shop.ts";

const PATIENCE_MS = 5000;

/** Limits that stand at noon, and whose events nobody hears. */
export const AT_NOON = {
  bans: RULES,
  anonymous: { perMinute: 60, perDay: 1000 },
  onBan: () => {},
  tell: () => {},
  clock: () => NOON,
};

export interface InValkey {
  readonly limits: ValkeyLimits;
  /** What was said about outages, in order. */
  readonly said: string[];
  close(): void;
}

/** Limits of one instance in a Valkey or a cluster, under a prefix; by Valkey's own clock if none is given. */
export async function inValkey(
  at: Pick<ValkeyServer, "url"> | { readonly urls: readonly string[] },
  prefix: string,
  options: MemoryOptions & { readonly clock?: () => number; readonly timeoutMs?: number },
): Promise<InValkey> {
  const said: string[] = [];
  const limits = valkeyLimits({
    ...options,
    urls: "urls" in at ? at.urls : [at.url],
    prefix: `${prefix}:`,
    clock: options.clock ?? "server",
    // What is to be exact over instances must not fail because the machine is busy.
    timeoutMs: options.timeoutMs ?? PATIENCE_MS,
    onAway: (cause) => void said.push(`away: ${cause}`),
    onStillAway: (cause) => void said.push(`still away: ${cause}`),
    onBack: () => void said.push("back"),
  });
  await limits.known;
  return { limits, said, close: limits.close };
}
