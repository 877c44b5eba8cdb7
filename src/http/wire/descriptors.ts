import { existsSync, readFileSync } from "node:fs";

/** What Linux tells of this process; elsewhere there is no such file. */
const LIMITS = "/proc/self/limits";

/** Descriptors that are left for files, Valkey, and whatever else the process opens. */
const LEFT = 200;

/**
 * Connections that may be open at once. The runtime does not tell when a process is out of descriptors: it asks the
 * kernel for the next connection again and again, with all of a core, and nobody learns why.
 */
export function mostConnections(databaseConnections: number): number {
  if (!existsSync(LIMITS)) return Number.POSITIVE_INFINITY;
  const limit = /^Max open files +(\d+)/m.exec(readFileSync(LIMITS, "utf8"))?.[1];
  const descriptors = limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  return Math.max(Math.floor(descriptors / 2), descriptors - LEFT - databaseConnections);
}
