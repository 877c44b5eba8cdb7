// A small piece of work, twenty times a second on the core that this program is bound to: whoever shares a core's parts
// with another virtual machine does it at half the pace, though no time is taken away. A line that is read is answered with
// how often it was done since the last one, and how often slowly.
export {};

const STEPS = 10_000;
/** The work is done so often at a time, and its middle time counts: one was interrupted, another found nothing in the caches. */
const TIMES = 9;
const PAUSE_MS = 50;
const WARM_UPS = 500;
/** Of its best time; it takes about twice that when another has the other half of the core. */
const SLOW = 1.4;

function work(): number {
  let [a, b, c, d] = [1, 2, 3, 4];
  for (let step = 0; step < STEPS; step++) {
    a = ((a ^ (a << 1)) + step) | 0;
    b = ((b ^ (b << 3)) + step) | 0;
    c = ((c ^ (c << 5)) + step) | 0;
    d = ((d ^ (d << 7)) + step) | 0;
  }
  return a ^ b ^ c ^ d;
}

const times = new Float64Array(TIMES);
/** What the work comes to, so that no compiler leaves it out. */
let made = 0;

function nanoseconds(): number {
  for (let time = 0; time < TIMES; time++) {
    const began = Bun.nanoseconds();
    made ^= work();
    times[time] = Bun.nanoseconds() - began;
  }
  return times.sort()[(TIMES - 1) / 2] as number;
}

let best = Number.POSITIVE_INFINITY;
let [looks, slow] = [0, 0];
for (let time = 0; time < WARM_UPS; time++) best = Math.min(best, nanoseconds());
setInterval(() => {
  const took = nanoseconds();
  best = Math.min(best, took);
  looks += 1;
  if (took > best * SLOW) slow += 1;
}, PAUSE_MS);
for await (const _ of console) {
  console.log(JSON.stringify({ looks, slow, made }));
  [looks, slow] = [0, 0];
}
process.exit();
