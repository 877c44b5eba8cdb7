import { expect, test } from "bun:test";
import { answersInTurns } from "../../src/store/sqlite/slow-disk.ts";

const SLOW_MS = 5;
const QUICK_MS = 0.5;
/** Longer than any test takes. */
const VERY_SLOW_MS = 600_000;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n);
}

function answering(isOnlyCore = true) {
  const answered: number[] = [];
  return { answered, answers: answersInTurns((one: number) => answered.push(one), isOnlyCore) };
}

test("what a quick commit brings is answered at once", () => {
  const { answered, answers } = answering();
  answers.add(numbers(1, 10), QUICK_MS);
  expect(answered).toEqual(numbers(1, 10));
});

test("what a slow commit brings is answered four in a turn of the event loop, the next one's behind it", async () => {
  const { answered, answers } = answering();
  answers.add(numbers(1, 6), SLOW_MS);
  answers.add(numbers(7, 9), SLOW_MS);
  const counts = [answered.length];
  while (answered.length < 9 && counts.length < 10) {
    await nextTurn();
    counts.push(answered.length);
  }
  expect(counts).toEqual([4, 8, 9]);
  expect(answered).toEqual(numbers(1, 9));
  answers.add(numbers(10, 11), SLOW_MS);
  expect(answered).toEqual(numbers(1, 11));
});

test("a quick commit after a slow one, or the end, brings all answers that are left, in order and once", async () => {
  const { answered, answers } = answering();
  answers.add(numbers(1, 10), SLOW_MS);
  answers.add(numbers(11, 12), QUICK_MS);
  expect(answered).toEqual(numbers(1, 12));
  answers.add(numbers(13, 20), SLOW_MS);
  answers.all();
  expect(answered).toEqual(numbers(1, 20));
  await nextTurn();
  await nextTurn();
  expect(answered).toEqual(numbers(1, 20));
});

test("what was refused without a commit is answered at once", () => {
  const { answered, answers } = answering();
  answers.add(numbers(1, 10), undefined);
  expect(answered).toEqual(numbers(1, 10));
});

test("on a single core writes are kept while a slow commit is answered, and for six turns in which those who were answered may come again", async () => {
  const { answered, answers } = answering();
  answers.add(numbers(1, 9), VERY_SLOW_MS);
  while (answered.length < 9) {
    expect(answers.keepsWrites()).toBe(true);
    await nextTurn();
  }
  const asked = numbers(1, 8).map(answers.keepsWrites);
  expect(asked).toEqual([true, true, true, true, true, true, false, false]);
});

test("no write is kept for longer than the last commit took", async () => {
  const { answers } = answering();
  answers.add(numbers(1, 100), SLOW_MS);
  await Bun.sleep(2 * SLOW_MS);
  expect(answers.keepsWrites()).toBe(false);
});

test("no write is kept where commits are quick, or where the writer has a core of its own", () => {
  const { answers } = answering();
  answers.add(numbers(1, 9), QUICK_MS);
  expect(answers.keepsWrites()).toBe(false);
  const beside = answering(false);
  beside.answers.add(numbers(1, 9), VERY_SLOW_MS);
  expect(beside.answers.keepsWrites()).toBe(false);
});
