import { expect, test } from "bun:test";
import { answersInTurns } from "../../src/store/sqlite/slow-disk.ts";

const SLOW_MS = 5;
const QUICK_MS = 0.5;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n);
}

function answering() {
  const answered: number[] = [];
  return { answered, answers: answersInTurns((one: number) => answered.push(one)) };
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
