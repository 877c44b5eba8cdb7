// Three small pieces of work, twenty times a second on the core that this program is bound to. One keeps all parts of the core
// busy, and takes about twice as long when another virtual machine has the other half of it, though no time is taken away. The
// second waits for itself and hardly notices. How many times the one takes the other's time does not depend on the core's
// frequency, which changes with what the whole machine does. The third reads memory, each time where it was just told to:
// others who ask much of the machine's caches and memory slow that down, though the core is as quick as ever. A line that is
// read is answered with how often it was looked since the last one, and how often the core or memory was slow.
export {};

const STEPS = 10_000;
/** The work is done so often at a time, and the middle ratio counts: one was interrupted, another found nothing in the caches. */
const TIMES = 7;
const PAUSE_MS = 50;
/** Until the runtime has compiled it at its best; then it learns what is usual. */
const WARM_UPS = 500;
const LESSONS = 100;
/** Of the usual ratio; shared it is about twice that. */
const SLOW = 1.4;
/** The usual ratio is the highest of so many lowest ones: a single one may be low by chance. */
const LOWEST = 20;

const LINE_WORDS = 16;
/** 16 MiB of memory: more than the caches that a core has for itself. */
const LINES = 2 ** 18;
const LOADS = 1000;
/** Of the usual time; while others were at work it was mostly up to twice that. */
const SLOW_MEMORY = 1.3;
/** The usual time is the least that was the middle one of so many looks, a second of them: by itself one can be quick by chance. */
const LOOKS = 20;

function wide(): number {
  let [a, b, c, d] = [1, 2, 3, 4];
  for (let step = 0; step < STEPS; step++) {
    a = ((a ^ (a << 1)) + step) | 0;
    b = ((b ^ (b << 3)) + step) | 0;
    c = ((c ^ (c << 5)) + step) | 0;
    d = ((d ^ (d << 7)) + step) | 0;
  }
  return a ^ b ^ c ^ d;
}

function waiting(): number {
  let a = 1;
  for (let step = 0; step < STEPS; step++) a = (Math.imul(a, 1_664_525) + step) | 0;
  return a;
}

const ratios = new Float64Array(TIMES);
/** What the work comes to, so that no compiler leaves it out. */
let made = 0;

function ratio(): number {
  for (let time = 0; time < TIMES; time++) {
    const began = Bun.nanoseconds();
    made ^= wide();
    const between = Bun.nanoseconds();
    made ^= waiting();
    ratios[time] = (between - began) / (Bun.nanoseconds() - between);
  }
  return ratios.sort()[(TIMES - 1) / 2] as number;
}

/** A round trip through all lines, in no order. */
function trip(): Uint32Array {
  const order = Uint32Array.from({ length: LINES }, (_, line) => line);
  for (let at = LINES - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [order[at], order[other]] = [order[other] as number, order[at] as number];
  }
  const lines = new Uint32Array(LINES * LINE_WORDS);
  for (let at = 0; at < LINES; at++)
    lines[(order[at] as number) * LINE_WORDS] = (order[(at + 1) % LINES] as number) * LINE_WORDS;
  return lines;
}

const lines = trip();
let place = 0;

function latency(): number {
  const began = Bun.nanoseconds();
  for (let load = 0; load < LOADS; load++) place = lines[place] as number;
  return (Bun.nanoseconds() - began) / LOADS;
}

let lowest: number[] = [];

function isCoreSlow(): boolean {
  const now = ratio();
  lowest = [...lowest, now].sort((a, b) => a - b).slice(0, LOWEST);
  return now > (lowest.at(-1) as number) * SLOW;
}

let usual = Number.POSITIVE_INFINITY;
let recent: number[] = [];

function isMemorySlow(): boolean {
  const now = latency();
  if (recent.push(now) === LOOKS) {
    usual = Math.min(usual, recent.sort((a, b) => a - b)[LOOKS / 2] as number);
    recent = [];
  }
  return now > usual * SLOW_MEMORY;
}

for (let time = 0; time < WARM_UPS; time++) made ^= ratio() + latency();
for (let time = 0; time < LESSONS; time++) isCoreSlow();
let [looks, slow] = [0, 0];
setInterval(() => {
  looks += 1;
  // Both, whatever the first one says: each learns by every look.
  const [isSlow, isSlowToo] = [isCoreSlow(), isMemorySlow()];
  if (isSlow || isSlowToo) slow += 1;
}, PAUSE_MS);
for await (const _ of console) {
  console.log(JSON.stringify({ looks, slow, made }));
  [looks, slow] = [0, 0];
}
process.exit();
