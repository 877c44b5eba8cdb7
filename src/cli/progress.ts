/** How often the bar is drawn, and how wide it is. */
const DRAWN_EVERY_MS = 100;
const WIDTH = 30;

export interface Progress {
  add(number: number): void;
  /** Takes the bar away. */
  end(): void;
}

/** A bar on standard error for people at a terminal; nothing for anybody else. A total of 0 is one that nobody knows. */
export function progress(unit: string, total: number, isTerminal = process.stderr.isTTY === true): Progress {
  if (!isTerminal) return { add: () => {}, end: () => {} };
  let done = 0;
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    add(number) {
      done += number;
      const now = performance.now();
      if (now - drawnAt < DRAWN_EVERY_MS) return;
      drawnAt = now;
      process.stderr.write(`\r\x1b[K${bar(done, total)}${done.toLocaleString("en")} ${unit}`);
    },
    end: () => void process.stderr.write("\r\x1b[K"),
  };
}

function bar(done: number, total: number): string {
  if (total === 0) return "";
  const share = Math.min(1, done / total);
  const filled = Math.round(share * WIDTH);
  return `[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}] ${Math.floor(share * 100)} %  `;
}
