import { expect, test } from "bun:test";
import { REST_OF_A_LOOK, rarely } from "../../src/wiring/rarely.ts";

/** A look that takes so long by a clock moved by hand, and finds how often it was made. */
function aLook(tookMs: number) {
  const clock = { now: 1000 };
  let looks = 0;
  const ask = rarely(
    async () => {
      looks += 1;
      clock.now += tookMs;
      return looks;
    },
    () => clock.now,
  );
  return { clock, ask };
}

test("what a long look found is told until twenty times as long have passed", async () => {
  const { clock, ask } = aLook(300);
  expect(await ask()).toBe(1);
  clock.now += REST_OF_A_LOOK * 300 - 1;
  expect(await ask()).toBe(1);
  clock.now += 1;
  expect(await ask()).toBe(2);
});

test("what took no time is looked at whenever somebody asks", async () => {
  const { ask } = aLook(0);
  expect([await ask(), await ask()]).toEqual([1, 2]);
});

test("who asks while it is looked waits for the same look", async () => {
  const { ask } = aLook(0);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  expect(await ask()).toBe(2);
});

test("a look that fails is told to whoever asked, and made again when its time has passed", async () => {
  const clock = { now: 0 };
  let isAway = true;
  const ask = rarely(
    async () => {
      clock.now += 10;
      if (isAway) throw new Error("away");
      return "there";
    },
    () => clock.now,
  );
  await expect(ask()).rejects.toThrow("away");
  isAway = false;
  clock.now += REST_OF_A_LOOK * 10;
  expect(await ask()).toBe("there");
});
