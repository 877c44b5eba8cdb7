import type { Redis } from "ioredis";
import { STUCK_MS } from "./driver.ts";

/** How often it is tried whether Valkey is back. */
const PROBE_EVERY_MS = 100;
const PROBE_KEPT_MS = 10_000;

export interface ProbingOptions {
  /** Later answers do not count. */
  readonly timeoutMs: number;
  /** Whether nobody knows if it is well. */
  readonly isWanted: () => boolean;
  /** A key that may be written, another if the last was refused for its slot; null if there is none. */
  readonly key: (isRefused: boolean) => string | null;
  /** Whether an answer only says that the key's slot is with another node. */
  readonly isElsewhere: (error: Error) => boolean;
  readonly onAnswer: () => void;
  readonly onFault: (error: Error) => void;
}

export interface Probing {
  /** Begins anew on a new connection. */
  restart(): void;
  stop(): void;
}

/** Finds out again and again whether a server that may be away takes writes, and replaces a connection that is stuck. */
export function probing(redis: Redis, options: ProbingOptions): Probing {
  let sentAt: number | undefined;
  let unreadySince: number | undefined;
  let isRefused = false;

  const reconnect = () => {
    sentAt = undefined;
    unreadySince = undefined;
    redis.disconnect(true);
  };
  const look = () => {
    if (!options.isWanted()) return;
    const now = performance.now();
    if (redis.status !== "ready") {
      unreadySince ??= now;
      const isTrying = redis.status === "connecting" || redis.status === "connect";
      if (isTrying && now - unreadySince > STUCK_MS) reconnect();
      return;
    }
    unreadySince = undefined;
    if (sentAt === undefined) probe(now);
    else if (now - sentAt > STUCK_MS) reconnect();
  };
  const probe = (now: number) => {
    sentAt = now;
    // A write, because a server that is full or read-only answers a ping all the same.
    const key = options.key(isRefused);
    isRefused = false;
    (key === null ? redis.ping() : redis.set(key, "1", "PX", PROBE_KEPT_MS)).then(
      () => {
        const isInTime = sentAt === now && performance.now() - now <= options.timeoutMs;
        sentAt = undefined;
        if (isInTime) options.onAnswer();
      },
      (error: Error) => {
        sentAt = undefined;
        // The slot is on its way to another node, or there already: that says nothing of this one.
        isRefused = options.isElsewhere(error);
        if (!isRefused) options.onFault(error);
      },
    );
  };

  const looking = setInterval(look, PROBE_EVERY_MS);
  return {
    restart() {
      sentAt = undefined;
      look();
    },
    stop: () => clearInterval(looking),
  };
}
