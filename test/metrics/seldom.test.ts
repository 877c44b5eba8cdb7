import { expect, test } from "bun:test";
import { seldom } from "../../src/wiring/seldom.ts";

/** Work that takes so long by a clock that is moved by hand, and how often it was done. */
function workOf(tookMs: number) {
  const state = { now: 1000, times: 0, isBroken: false };
  const ask = seldom(
    async () => {
      state.times++;
      state.now += tookMs;
      if (state.isBroken) throw new Error("broken");
      return state.times;
    },
    () => state.now,
  );
  return { state, ask };
}

test("those who ask at once, or soon after, get what came of the same work", async () => {
  const { state, ask } = workOf(200);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  state.now += 200 * 49 - 1;
  expect(await ask()).toBe(1);
  state.now += 1;
  expect(await Promise.all([ask(), ask()])).toEqual([2, 2]);
});

test("what takes no time is done whenever somebody asks, and what takes very long after a minute", async () => {
  const quick = workOf(0);
  for (const time of [1, 2, 3]) expect(await quick.ask()).toBe(time);
  const slow = workOf(10_000);
  await slow.ask();
  slow.state.now += 59_999;
  expect(await slow.ask()).toBe(1);
  slow.state.now += 1;
  expect(await slow.ask()).toBe(2);
});

test("a clock that is set back keeps nobody waiting", async () => {
  const { state, ask } = workOf(200);
  await ask();
  state.now -= 3_600_000;
  expect(await ask()).toBe(2);
});

test("what fails is told to those who asked, and done again for the next", async () => {
  const { state, ask } = workOf(200);
  state.isBroken = true;
  const asked = await Promise.allSettled([ask(), ask()]);
  expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(state.times).toBe(1);
  state.isBroken = false;
  expect(await ask()).toBe(2);
});
