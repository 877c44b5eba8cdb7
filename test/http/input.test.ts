import { expect, test } from "bun:test";
import fc from "fast-check";
import { NewBan } from "../../src/contract/access-shapes.ts";
import type { Route } from "../../src/contract/route.ts";
import { type AnyShape, array, boolean } from "../../src/contract/shape.ts";
import { givenId, NewOrder, NewPet, NewPets, PetStatus, paging } from "../../src/contract/shapes.ts";
import { date } from "../../src/contract/times.ts";
import { Failure } from "../../src/core/failure.ts";
import { inputReader } from "../../src/http/input.ts";

const route: Omit<Route, "body"> = {
  at: "GET /things/{thingId}",
  summary: "A thing",
  role: "customer",
  params: { thingId: givenId },
  query: {
    id: array(givenId, { maxItems: 3 }).optional(),
    status: array(PetStatus).optional(),
    big: boolean().optional(),
    day: date.optional(),
    ...paging,
  },
  kind: "list",
  errors: [],
  example: {},
};
const { parameters } = inputReader(route);

function details(work: () => unknown): readonly { field: string; message: string }[] {
  try {
    work();
  } catch (error) {
    if (error instanceof Failure && error.details) return error.details;
    throw error;
  }
  throw new Error("Nothing was refused.");
}

function problems(work: () => unknown): Record<string, string> {
  return Object.fromEntries(details(work).map(({ field, message }) => [field, message]));
}

const bodyOf = (body: AnyShape) => (value: unknown) => inputReader({ ...route, body }).body(value);

test("parameters come as their shapes have them, with defaults for what is left out", () => {
  expect(parameters({ thingId: "7" }, "")).toEqual({ thingId: 7, limit: 20 });
  expect(parameters({ thingId: "7" }, "?limit=5&id=1&id=2&status=sold&big=true")).toEqual({
    thingId: 7,
    limit: 5,
    id: [1, 2],
    status: ["sold"],
    big: true,
  });
});

test("a query is read as forms write it, whatever stands in it", () => {
  const anyText = fc.string({ unit: "binary" }).filter((text) => !text.includes("\0"));
  fc.assert(
    fc.property(anyText, fc.array(fc.constantFrom("available", "pending", "sold")), (cursor, status) => {
      const query = new URLSearchParams({ cursor });
      for (const each of status) query.append("status", each);
      const { cursor: readCursor, status: readStatus = [] } = parameters({ thingId: "7" }, `?${query}`);
      expect([readCursor, readStatus]).toEqual([cursor, status]);
    }),
  );
});

test("marks without anything between them give nothing, and a name may be encoded", () => {
  expect(parameters({ thingId: "7" }, "?")).toEqual({ thingId: 7, limit: 20 });
  expect(parameters({ thingId: "7" }, "?&&limit=5&&")).toEqual({ thingId: 7, limit: 5 });
  expect(parameters({ thingId: "7" }, "?l%69mit=5&cursor=a=b")).toEqual({
    thingId: 7,
    limit: 5,
    cursor: "a=b",
  });
  expect(parameters({ thingId: "7" }, "?cursor")).toEqual({ thingId: 7, limit: 20, cursor: "" });
});

test("an id past 2^53 is not rounded, in the path or the query", () => {
  const input = parameters({ thingId: "9007199254740993" }, "?id=9223372036854775807");
  expect(input).toMatchObject({ thingId: 9007199254740993n, id: [9223372036854775807n] });
});

const wrongQueries: readonly [search: string, field: string, message: RegExp][] = [
  ["?limit=0", "limit", /^must be at least 1, got 0$/],
  ["?limit=101", "limit", /^must be at most 100, got 101$/],
  ["?limit=99999999999999999999", "limit", /^must be at most 100, got 9{20}$/],
  ["?limit=many", "limit", /^must be an integer, got "many"$/],
  ["?limit=", "limit", /^must be an integer, got ""$/],
  ["?limit=1&limit=2", "limit", /^must be given once, is given 2 times$/],
  ["?status=lost", "status[0]", /^must be one of available, pending, sold, got "lost"$/],
  [
    "?status=available,sold",
    "status[0]",
    /^must be one of available, pending, sold, got "available,sold"; repeat status for each of several$/,
  ],
  ["?status=sold&status=", "status[1]", /^must be one of available, pending, sold, got ""$/],
  ["?id=0", "id[0]", /^must be at least 1, got 0$/],
  ["?id=x", "id[0]", /^must be an integer, got "x"$/],
  ["?id=9223372036854775808", "id[0]", /^must be at most 9223372036854775807$/],
  ["?id=1&id=2&id=3&id=4", "id", /^must have at most 3 items, has 4$/],
  ["?big=yes", "big", /^must be true or false, got "yes"$/],
  ["?day=2026-02-29", "day", /^must be a date such as 2026-11-30$/],
  ["?day=2026-11-30T00:00:00Z", "day", /^must be a date such as 2026-11-30$/],
  [`?cursor=${"x".repeat(2001)}`, "cursor", /^must have at most 2000 characters, has 2001$/],
  ["?cursor=%ff", "cursor", /^must be percent-encoded UTF-8, got "%ff"$/],
  ["?cursor=50%", "cursor", /^must be percent-encoded UTF-8, got "50%"$/],
  ["?%zz=1", "%zz", /^must be percent-encoded UTF-8, got "1"$/],
  ["?=1", "", /^is unknown; known/],
  ["?colour", "colour", /^is unknown; known/],
  ["?limits=5", "limits", /^is unknown; known/],
  ["?cursor=a&limit", "limit", /^must be an integer, got ""$/],
  ["?colour=red", "colour", /^is unknown; known are id, status, big, day, limit, cursor$/],
];

for (const [search, field, message] of wrongQueries) {
  test(`the query ${search.slice(0, 70)} is refused with what is wrong and what was sent`, () => {
    const found = problems(() => parameters({ thingId: "7" }, search));
    expect(Object.keys(found)).toEqual([field]);
    expect(found[field]).toMatch(message);
  });
}

test("an unknown parameter is told of once, however often it is given", () => {
  const told = details(() => parameters({ thingId: "7" }, "?colour=red&size=1&colour=blue&c%6flour&limit=0"));
  expect(told.map(({ field }) => field)).toEqual(["colour", "size", "limit"]);
});

test("an operation without parameters says so", () => {
  const bare = inputReader({ ...route, params: {}, query: {} });
  expect(problems(() => bare.parameters({}, "?a=1"))).toEqual({ a: "is unknown; this operation takes none" });
});

test("an id of the path says its range and what was sent", () => {
  const message = 'must be an id of 1 to 19 digits, at most 9223372036854775807, got "seven"';
  expect(problems(() => parameters({ thingId: "seven" }, ""))).toEqual({ thingId: message });
});

const wrongBodies: readonly [shape: AnyShape, body: unknown, expected: Record<string, RegExp>][] = [
  [NewPet, {}, { name: /^is required$/, categoryId: /^is required$/ }],
  [
    NewPet,
    { name: "", categoryId: 1.5, status: "lost" },
    {
      name: /^must not be empty or only white space$/,
      categoryId: /^must be an integer, got 1\.5$/,
      status: /^must be one of available, pending, sold, got "lost"$/,
    },
  ],
  [
    NewPet,
    { name: null, categoryId: "1" },
    { name: /a string, got null$/, categoryId: /an integer, got "1"$/ },
  ],
  [
    NewPet,
    { name: "x".repeat(201), categoryId: -1 },
    { name: /at most 200 characters, has 201$/, categoryId: /at least 1/ },
  ],
  [NewPet, { name: "a\0b", categoryId: 1 }, { name: /NUL/ }],
  [NewPet, { name: "\ud800", categoryId: 1 }, { name: /surrogate/ }],
  [
    NewPet,
    { name: "Rex", categoryId: 1, colour: "red" },
    { colour: /^is not a known field; known are name, categoryId, status$/ },
  ],
  [NewPet, [], { body: /^must be an object, got an array$/ }],
  [NewPet, null, { body: /^must be an object, got null$/ }],
  [NewPets, [], { body: /^must have at least 1 item$/ }],
  [NewPets, {}, { body: /^must be an array, got an object$/ }],
  [
    NewPets,
    [{ name: "Rex", categoryId: 1 }, { name: " ", categoryId: 1 }, 7],
    { "[1].name": /white space/, "[2]": /^must be an object, got 7$/ },
  ],
  [
    NewPets,
    [{ name: "Rex", categoryId: 1, colour: 1 }],
    { "[0].colour": /^is not a known field; known are name/ },
  ],
  [
    NewOrder,
    { petId: 9223372036854775808n, quantity: 2147483648, shipDate: "tomorrow", complete: "no" },
    {
      petId: /^must be at most 9223372036854775807$/,
      quantity: /^must be at most 2147483647, got 2147483648$/,
      shipDate: /^must be an RFC 3339 date-time/,
      complete: /^must be true or false, got "no"$/,
    },
  ],
  [
    NewOrder,
    { quantity: 0, shipDate: "2026-11-30" },
    { quantity: /at least 1, got 0/, shipDate: /RFC 3339/ },
  ],
  [
    NewOrder,
    { quantity: null, shipDate: "2026-02-29T12:00:00Z", complete: null },
    {
      quantity: /^must be an integer, got null$/,
      shipDate: /RFC 3339/,
      complete: /^must be true or false, got null$/,
    },
  ],
  [NewBan, { minutes: 1, reason: "a\0b" }, { reason: /NUL/ }],
  [
    NewOrder,
    { quantity: Number.POSITIVE_INFINITY },
    { quantity: /^must be an integer, got a number that is too large$/ },
  ],
  [
    NewOrder,
    { petId: -(10n ** 16n), quantity: 10n ** 16n },
    {
      petId: /^must be at least 1, got -10000000000000000$/,
      quantity: /^must be at most 2147483647, got 10000000000000000$/,
    },
  ],
  [NewOrder, { quantity: 1e300 }, { quantity: /^must be at most 2147483647, got 1e\+300$/ }],
];

for (const [shape, body, expected] of wrongBodies) {
  const shown = JSON.stringify(body, (_, value) => (typeof value === "bigint" ? String(value) : value));
  test(`the body ${shown.slice(0, 70)} is refused field by field`, () => {
    const found = problems(() => bodyOf(shape)(body));
    expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
    for (const [field, message] of Object.entries(expected)) expect(found[field]).toMatch(message);
  });
}

test("a message shows a long value only in part", () => {
  for (const long of ["x".repeat(5000), -(10n ** 5000n)]) {
    const found = problems(() => bodyOf(NewOrder)({ petId: long, quantity: long }));
    expect(found.petId?.length).toBeLessThan(200);
    expect(found.quantity?.length).toBeLessThan(200);
  }
});

test("the sentence of a refusal names three problems, its details all", () => {
  const wrong = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`field${index}`, 1]));
  try {
    bodyOf(NewOrder)(wrong);
  } catch (error) {
    const { message, details } = error as Failure;
    expect(message).toStartWith("The body has 9 problems: field0 is not a known field");
    expect(message).toEndWith("; ....");
    expect(details).toHaveLength(9);
  }
});

test("two shapes never have one name", () => {
  expect(() => boolean({ id: "Pet" })).toThrow("Two shapes are called Pet.");
});

test("of too many items none is looked at, and of a million problems a hundred are told", () => {
  const many = problems(() => bodyOf(NewPets)(new Array(4_000_000).fill(0)));
  expect(many).toEqual({ body: "must have at most 1000 items, has 4000000" });
  const fields = Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [`f${n}`, 0]));
  const found = problems(() => bodyOf(NewOrder)(fields));
  expect(Object.keys(found)).toHaveLength(101);
  expect(found["..."]).toBe("and 199900 more");
});

test("a query with too many problems is not read to its end", () => {
  const many = (part: (n: number) => string) => Array.from({ length: 1300 }, (_, n) => part(n)).join("&");
  for (const query of [many(() => "%"), many((n) => `x${n}`), many(() => "%ff=1")]) {
    const found = problems(() => parameters({ thingId: "1" }, `?${query}&limit=none`));
    expect(found["..."]).toBe("is not read: there are too many problems before it");
    expect(found.limit).toBeUndefined();
  }
  const found = problems(() => parameters({ thingId: "1" }, `?${many(() => "x")}&limit=none`));
  expect(Object.keys(found)).toEqual(["x", "limit"]);
});

test("a field without a name is told as it is", () => {
  expect(problems(() => bodyOf(NewOrder)({ petId: 1, "": 1 }))).toEqual({
    "": expect.stringMatching(/^is not a known field/),
  });
});
