// Two small pieces of work, twenty times a second on the core that this program is bound to. One keeps all parts of the core
// busy, and takes about twice as long when another virtual machine has the other half of it, though no time is taken away. The
// other waits for itself and hardly notices. How many times the one takes the other's time does not depend on the core's
// frequency, which changes with what the whole machine does. A line that is read is answered with how often it was looked
// since the last one, and how often the core was slow.
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

let lowest: number[] = [];

function isSlow(): boolean {
  const now = ratio();
  lowest = [...lowest, now].sort((a, b) => a - b).slice(0, LOWEST);
  return now > (lowest.at(-1) as number) * SLOW;
}

for (let time = 0; time < WARM_UPS; time++) ratio();
for (let time = 0; time < LESSONS; time++) isSlow();
let [looks, slow] = [0, 0];
setInterval(() => {
  looks += 1;
  if (isSlow()) slow += 1;
}, PAUSE_MS);
for await (const _ of console) {
  console.log(JSON.stringify({ looks, slow, made }));
  [looks, slow] = [0, 0];
}
process.exit();
