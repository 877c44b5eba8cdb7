// What the log says when a server that this one needs goes away and comes back.
import { Unavailable } from "../core/failure.ts";
import type { Log } from "../http/log.ts";

export function postgresTold(log: Log) {
  return {
    onAway: (cause: string) =>
      log.error("PostgreSQL cannot be reached; requests are refused until it is back.", { cause }),
    onBack: (awayMs: number) =>
      log.warn("PostgreSQL is back; requests are answered again.", {
        awaySeconds: Math.round(awayMs) / 1000,
      }),
  };
}

export function valkeyTold(log: Log) {
  return {
    onAway: (cause: string, node: string | null) =>
      node === null
        ? log.warn("Valkey cannot be reached; each instance limits from its own memory.", { cause })
        : log.warn(
            "A node of Valkey cannot be reached; each instance limits its clients from its own memory.",
            { node, cause },
          ),
    onStillAway: (cause: string, node: string | null) =>
      log.warn(`${node === null ? "Valkey" : "A node of Valkey"} still cannot be reached.`, {
        ...(node !== null && { node }),
        cause,
      }),
    onBack: (node: string | null) =>
      node === null
        ? log.warn("Valkey is back; limits are shared again.")
        : log.warn("A node of Valkey is back, or another has its place; limits are shared again.", { node }),
  };
}

export function collectorTold(log: Log) {
  return {
    onAway: (cause: string) =>
      log.warn("The collector takes no traces; some are kept for it, the others dropped. Requests go on.", {
        cause,
      }),
    onBack: (awayMs: number, dropped: number) =>
      log.warn("The collector takes traces again.", {
        awaySeconds: Math.round(awayMs) / 1000,
        droppedSpans: dropped,
      }),
    onLost: (spans: number) =>
      log.warn("Traces could not be sent before the end, and are lost.", { droppedSpans: spans }),
  };
}

/** Whether the log has the cause already: the database is away, and that was told when it went. */
export function isTold(error: unknown): boolean {
  return error instanceof Unavailable && error.cause === undefined;
}
