import { existsSync, readdirSync, readFileSync } from "node:fs";

/** What the system tells of this process; null where it does not, which is anywhere but on Linux. */
export interface ProcessFigures {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly anonymousBytes: number | null;
  readonly heapBytes: number;
  readonly openFiles: number | null;
  readonly mostFiles: number | null;
  readonly startedAtSeconds: number;
}

export function processFigures(): ProcessFigures {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const isLinux = existsSync("/proc/self/status");
  const numberIn = (file: string, pattern: RegExp) => {
    const found = isLinux ? pattern.exec(readFileSync(`/proc/self/${file}`, "utf8"))?.[1] : undefined;
    return found === undefined ? null : Number(found);
  };
  const anonymousKib = numberIn("status", /^RssAnon:\s+(\d+) kB/m);
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: rss,
    anonymousBytes: anonymousKib === null ? null : anonymousKib * 1024,
    heapBytes: heapUsed,
    // To look at the folder opens one more.
    openFiles: isLinux ? readdirSync("/proc/self/fd").length - 1 : null,
    mostFiles: numberIn("limits", /^Max open files +(\d+)/m),
    startedAtSeconds: performance.timeOrigin / 1000,
  };
}
