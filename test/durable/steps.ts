// What may be done to a store in a test of whatever order, as values.
import fc from "fast-check";
import type { Status } from "./model.ts";

// Records are named by a number that is taken round the ones that the run has made, so that a shorter run still
// means something; the last number means one that is gone, or never was.
export const GONE = 9;

const which = fc.nat({ max: GONE });
const units = fc.constantFrom(1, 1, 1, 2, 3, 5);
const status = fc.constantFrom<Status>("available", "pending", "sold");
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const clearable = <T>(value: fc.Arbitrary<T>) => fc.option(optional(value), { nil: null, freq: 8 });
const shipDate = fc.constantFrom("2026-12-01T08:00:00.000Z", "2027-01-01T00:00:00.000Z");
const name = fc.constantFrom("Rex", "Tom", "Mia");
const newPet = fc.record({ name, category: which, status: optional(status) });

const placing = {
  pet: fc.option(which, { nil: undefined, freq: 8 }),
  quantity: optional(units),
  shipDate: optional(shipDate),
  complete: optional(fc.constantFrom(false, false, true)),
};

export const step = fc.oneof(
  { weight: 4, arbitrary: does("createPet", { pet: newPet }) },
  { weight: 1, arbitrary: does("createMany", { pets: fc.array(newPet, { minLength: 1, maxLength: 3 }) }) },
  {
    weight: 6,
    arbitrary: does("changePet", {
      pet: which,
      name: optional(name),
      category: fc.option(which, { nil: undefined, freq: 2 }),
      status: optional(status),
      isWhole: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: does("removePet", { pet: which }) },
  { weight: 1, arbitrary: does("removeCategory", { category: which }) },
  { weight: 5, arbitrary: does("setStock", { pet: which, quantity: fc.constantFrom(0, 0, 1, 2, 5, 9) }) },
  { weight: 10, arbitrary: does("place", placing) },
  {
    weight: 10,
    arbitrary: does("changeOrder", {
      order: which,
      pet: clearable(which),
      quantity: clearable(units),
      shipDate: clearable(shipDate),
      complete: optional(fc.constantFrom(true, true, false)),
    }),
  },
  { weight: 4, arbitrary: does("cancel", { order: which }) },
);

export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function does<const Name extends string, T>(word: Name, fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record({ does: fc.constant(word), ...fields } as unknown as {
    [K in keyof ({ does: Name } & T)]: fc.Arbitrary<({ does: Name } & T)[K]>;
  });
}
