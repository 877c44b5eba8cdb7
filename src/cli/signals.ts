import { existsSync, readFileSync } from "node:fs";

/** What Linux tells of this process; elsewhere there is no such file. */
const STATUS = "/proc/self/status";

/** Resolves when the server is told to stop; a second signal of the same name ends the process at once. */
export function stopSignal(): Promise<void> {
  const signals: NodeJS.Signals[] = isHangupIgnored()
    ? ["SIGTERM", "SIGINT"]
    : ["SIGTERM", "SIGINT", "SIGHUP"];
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
}

/** Under nohup the end of a terminal is not meant for us; listening for it would bring it back. */
function isHangupIgnored(): boolean {
  if (!existsSync(STATUS)) return false;
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(STATUS, "utf8"))?.[1] ?? "0";
  return (BigInt(`0x${mask}`) & 1n) === 1n;
}
