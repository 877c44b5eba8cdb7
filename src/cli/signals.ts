import { existsSync, readFileSync } from "node:fs";

/** What Linux tells of this process; elsewhere there is no such file. */
const STATUS = "/proc/self/status";

/** Resolves when the server is told to stop; a second signal of the same name ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const [signal] of heard()) process.once(signal, () => resolve());
  });
}

/** Does something that takes a while; a signal takes away what is half done, and ends the process. */
export async function untilStopped<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const signals = heard();
  for (const [signal, number] of signals)
    process.once(signal, () => {
      stop.abort();
      process.exit(128 + number);
    });
  try {
    return await work(stop.signal);
  } finally {
    for (const [signal] of signals) process.removeAllListeners(signal);
  }
}

const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

function heard(): [keyof typeof SIGNALS, number][] {
  const all = Object.entries(SIGNALS) as [keyof typeof SIGNALS, number][];
  return isHangupIgnored() ? all.filter(([signal]) => signal !== "SIGHUP") : all;
}

/** Under nohup the end of a terminal is not meant for us; listening for it would bring it back. */
function isHangupIgnored(): boolean {
  if (!existsSync(STATUS)) return false;
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(STATUS, "utf8"))?.[1] ?? "0";
  return (BigInt(`0x${mask}`) & 1n) === 1n;
}
