import type { MemoryOptions } from "../../src/limits/memory.ts";
import { type ValkeyLimits, valkeyLimits } from "../../src/limits/valkey/limits.ts";
import type { ValkeyServer } from "../servers/valkey.ts";

const PATIENCE_MS = 5000;

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
    onBack: () => void said.push("back"),
  });
  await limits.settled;
  return { limits, said, close: limits.close };
}
