import fc from "fast-check";
import { type AnyShape, componentSchemas } from "../src/contract/shape.ts";

interface Schema {
  readonly $ref?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** Values that a shape allows, as its published schema tells them. Ids come from `ids`. */
export function valid(shape: AnyShape, ids: fc.Arbitrary<number>): fc.Arbitrary<unknown> {
  return ofSchema(shape.schema, componentSchemas(), ids);
}

/** A value as JSON, with integers past 2^53 written whole. */
export function written(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(written).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}:${written(field)}`);
  return `{${fields.join()}}`;
}

type Definitions = Readonly<Record<string, Schema>>;

function ofSchema(schema: Schema, defs: Definitions, ids: fc.Arbitrary<number>): fc.Arbitrary<unknown> {
  const again = (each: Schema) => ofSchema(each, defs, ids);
  if (schema.$ref) return again(defs[schema.$ref.split("/").at(-1) as string] as Schema);
  if (schema.nullable) return fc.oneof(fc.constant(null), again({ ...schema, nullable: false }));
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(again));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "boolean":
      return fc.boolean();
    case "integer":
      return schema.format === "int64" ? anyId(ids) : integer(schema);
    case "string":
      if (schema.format === "date") return date;
      return schema.format === "date-time" ? dateTime : text(schema);
    case "array":
      return fc.array(again(schema.items as Schema), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, 5),
      });
    case "object": {
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, again(field)]);
      const model: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(fields);
      return fc.record(model, { requiredKeys: [...(schema.required ?? [])] });
    }
    default:
      throw new Error(`Say in test/arbitrary.ts how ${JSON.stringify(schema)} is made.`);
  }
}

function anyId(ids: fc.Arbitrary<number>): fc.Arbitrary<bigint> {
  return fc.oneof(
    { weight: 8, arbitrary: ids.map(BigInt) },
    fc.bigInt({ min: 1n, max: 9223372036854775807n }),
    fc.constantFrom(9007199254740993n, 9223372036854775807n),
  );
}

function integer({ minimum = 0, maximum = 2147483647 }: Schema): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: minimum, max: Math.min(maximum, minimum + 5) }) },
    fc.integer({ min: minimum, max: maximum }),
    fc.constantFrom(minimum, maximum),
  );
}

/** Any text with something to see in it; NUL is the one character that no text may have. */
function text({ minLength = 0, maxLength = 50 }: Schema): fc.Arbitrary<string> {
  const characters = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }),
    fc.constant("e\u0301\u{1f415}"),
  );
  const long = fc.constantFrom("x", "\u{1f415}", "\u00df", "\u0130").map((each) => each.repeat(maxLength));
  const some = fc.oneof({ weight: 6, arbitrary: characters }, long).map((each) => each.replaceAll("\0", ""));
  return minLength === 0 ? some : some.map((each) => (each.trim() === "" ? `${each.slice(0, 100)}R` : each));
}

const date = fc
  .oneof(
    fc.date({ min: new Date("2026-01-01"), max: new Date("2027-01-01"), noInvalidDate: true }),
    fc.date({ min: new Date("1971-01-01"), max: new Date("9999-12-31"), noInvalidDate: true }),
    fc.constantFrom(new Date("9999-12-31"), new Date("2028-02-29")),
  )
  .map((time) => time.toISOString().slice(0, 10));

const dateTime = fc
  .record({
    time: fc.oneof(
      fc.date({ min: new Date("2020-01-01"), max: new Date("2040-01-01"), noInvalidDate: true }),
      fc.date({
        min: new Date("0000-01-02T00:00:00Z"),
        max: new Date("9999-12-30T23:59:59Z"),
        noInvalidDate: true,
      }),
    ),
    fraction: fc.constantFrom("", ".5", ".123", ".123456789"),
    offset: fc.constantFrom("Z", "+00:00", "-00:00", "+05:30", "-12:00", "+14:00"),
  })
  .map(({ time, fraction, offset }) => `${time.toISOString().slice(0, 19)}${fraction}${offset}`);
