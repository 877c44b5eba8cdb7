import { Redis } from "ioredis";
import { type ScriptName, scripts } from "./scripts.ts";

/** A connection that says nothing for this long while it is probed is given up for a new one. */
export const STUCK_MS = 1000;
const RECONNECT_MS = 100;
const CONNECT_TIMEOUT_MS = 1000;

/** Numbers, and text where a list is told. */
export type Reply = readonly (number | string)[];

/** The driver as we need it; it is not connected yet. */
export function driverOf(url: string): Redis {
  return new Redis(url, {
    scripts,
    lazyConnect: true,
    // Nothing is queued, sent again or waited for by the driver: what cannot be done now is decided without Valkey.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: RECONNECT_MS,
    maxLoadingRetryTime: STUCK_MS,
    retryStrategy: () => RECONNECT_MS,
    // After a failover the old address may lead to a replica; a new connection may find the new primary.
    reconnectOnError: ({ message }) => message.startsWith("READONLY"),
  });
}

type Run = (...args: string[]) => Promise<Reply>;

export function run(redis: Redis, script: ScriptName, args: string[]): Promise<Reply> {
  return (redis as unknown as Record<ScriptName, Run>)[script](...args);
}

/** Runs it for a slot that the node is about to get. As a whole, because the driver would send it again without asking if it were not known by its hash. */
export function runAsking(redis: Redis, script: ScriptName, args: string[]): Promise<Reply> {
  redis.asking().catch(() => {});
  const { lua, numberOfKeys } = scripts[script];
  return redis.eval(lua, numberOfKeys, ...args) as Promise<Reply>;
}

/** To be called before each command: what is sent in one turn leaves in one piece. */
export function gathering(redis: Redis): () => void {
  let isGathering = false;
  return () => {
    if (isGathering) return;
    const { stream } = redis;
    isGathering = true;
    stream.cork();
    process.nextTick(() => {
      isGathering = false;
      stream.uncork();
    });
  };
}
