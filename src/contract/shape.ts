export type Json = Record<string, unknown>;
export type Schema = Readonly<Json>;

/** What is wrong with a value, and where in it. */
export interface Problem {
  readonly path: (string | number)[];
  readonly message: string;
}

/** The value as its shape has it. What is wrong is added to the problems, and then the value is of no use. */
export type Check<T> = (value: unknown, problems: Problem[]) => T;

/** What a value must be: its type, its check and its JSON schema, from one declaration. */
export interface Shape<T> {
  /** The name of its component, if it is one. */
  readonly id: string | undefined;
  readonly check: Check<T>;
  /** As OpenAPI 3.0 has it; of a shape with a name, the reference to its component. */
  readonly schema: Schema;
  described(description: string): Shape<T>;
  optional(): Shape<T | undefined>;
  nullable(): Shape<T | null>;
  default(fallback: T): Shape<T>;
}

export type AnyShape = Shape<unknown>;
export type Shapes = Readonly<Record<string, AnyShape>>;

/** The type of a shape's values. */
export type Value<S> = S extends Shape<infer T> ? T : never;

/** What can be undefined can be left out. */
export type Fields<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & { [K in keyof T as undefined extends T[K] ? K : never]?: T[K] } extends infer F
  ? { [K in keyof F]: F[K] }
  : never;

/** What is told of a shape besides its check: words of JSON Schema, and a name that makes it a component. */
export interface Told extends Schema {
  readonly id?: string;
  readonly description?: string;
}

const components = new Map<string, Schema>();

/** The schema of every shape that has a name. */
export function componentSchemas(): Record<string, Schema> {
  return Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function problemsOf(shape: AnyShape, value: unknown): Problem[] {
  const problems: Problem[] = [];
  shape.check(value, problems);
  return problems;
}

/** A whole number that is exact. */
export function int({
  minimum = Number.MIN_SAFE_INTEGER,
  maximum = Number.MAX_SAFE_INTEGER,
  ...told
}: Told & { minimum?: number; maximum?: number } = {}): Shape<number> {
  const wrong = (value: unknown) => {
    if (typeof value !== "bigint" && !Number.isInteger(value)) return mustBe("an integer", value);
    if ((value as number) < minimum) return mustBe(`at least ${minimum}`, value);
    return (value as number) > maximum ? mustBe(`at most ${maximum}`, value) : undefined;
  };
  return custom(wrong, { type: "integer", minimum, maximum, ...told });
}

export function boolean(told: Told = {}): Shape<boolean> {
  const wrong = (value: unknown) => (typeof value === "boolean" ? undefined : mustBe("true or false", value));
  return custom(wrong, { type: "boolean", ...told });
}

/** One of these words. */
export function oneOf<const T extends string>(words: readonly T[], told: Told = {}): Shape<T> {
  const wrong = (value: unknown) =>
    words.includes(value as T) ? undefined : mustBe(`one of ${words.join(", ")}`, value);
  return custom(wrong, { type: "string", enum: words, ...told });
}

/** A text, with all that is wrong with it. */
export function string(told: Told = {}, wrong: (text: string) => Iterable<string> = () => []): Shape<string> {
  return shaped(
    (value, problems) => {
      if (typeof value !== "string") refuse(problems, mustBe("a string", value));
      else for (const message of wrong(value)) refuse(problems, message);
      return value as string;
    },
    { type: "string", ...told },
  );
}

/** A value by a rule of its own, which says what is wrong with it. */
export function custom<T>(wrong: (value: unknown) => string | undefined, told: Told): Shape<T> {
  return shaped((value, problems) => {
    const message = wrong(value);
    if (message !== undefined) refuse(problems, message);
    return value as T;
  }, told);
}

export function array<T>(
  items: Shape<T>,
  { minItems, maxItems, ...told }: Told & { minItems?: number; maxItems?: number } = {},
): Shape<T[]> {
  const check: Check<T[]> = (value, problems) => {
    if (!Array.isArray(value)) {
      refuse(problems, mustBe("an array", value));
      return [];
    }
    // Of too many none is looked at: there may be millions.
    if (maxItems !== undefined && value.length > maxItems) {
      refuse(problems, `must have at most ${maxItems} items, has ${value.length}`);
      return [];
    }
    if (minItems !== undefined && value.length < minItems)
      refuse(problems, `must have at least ${minItems} ${minItems === 1 ? "item" : "items"}`);
    return value.map((item, at) => checkAt(at, items, item, problems));
  };
  const bounds = { ...(minItems !== undefined && { minItems }), ...(maxItems !== undefined && { maxItems }) };
  return shaped(check, { ...bounds, type: "array", items: items.schema, ...told });
}

/** Values of one shape by any name. */
export function record<T>(values: Shape<T>, told: Told = {}): Shape<Record<string, T>> {
  const check: Check<Record<string, T>> = (value, problems) => {
    if (!isObject(value)) refuse(problems, mustBe("an object", value));
    const entries = Object.entries(isObject(value) ? value : {});
    return Object.fromEntries(entries.map(([name, each]) => [name, checkAt(name, values, each, problems)]));
  };
  return shaped(check, { type: "object", additionalProperties: values.schema, ...told });
}

/** These fields and no others. */
export function object<F extends Shapes>(
  fields: F,
  told: Told = {},
): Shape<Fields<{ -readonly [K in keyof F]: Value<F[K]> }>> & { readonly fields: F } {
  const names = Object.keys(fields);
  const unknown = `is not a known field; known are ${names.join(", ")}`;
  const check: Check<never> = (value, problems) => {
    const read: Record<string, unknown> = {};
    if (!isObject(value)) refuse(problems, mustBe("an object", value));
    else {
      for (const name of names) {
        const field = checkAt(name, fields[name] as AnyShape, value[name], problems);
        if (field !== undefined) read[name] = field;
      }
      for (const name of Object.keys(value)) {
        if (Object.hasOwn(fields, name)) continue;
        problems.push({ path: [name.slice(0, 100)], message: unknown });
      }
    }
    return read as never;
  };
  const required = names.filter((name) => problemsOf(fields[name] as AnyShape, undefined).length > 0);
  const properties = Object.fromEntries(names.map((name) => [name, fields[name]?.schema]));
  const schema = {
    type: "object",
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...told,
    properties,
  };
  return { ...shaped(check, schema), fields };
}

/** One of several objects, told apart by a field whose values have a shape each. */
export function union<S extends Readonly<Record<string, AnyShape>>>(
  field: string,
  shapes: S,
  told: Told = {},
): Shape<Value<S[keyof S]>> {
  const known = `one of ${Object.keys(shapes).join(", ")}`;
  const check: Check<Value<S[keyof S]>> = (value, problems) => {
    if (!isObject(value)) refuse(problems, mustBe("an object", value));
    else {
      const name = value[field];
      const shape = typeof name === "string" && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
      if (shape) return shape.check(value, problems) as Value<S[keyof S]>;
      problems.push({ path: [field], message: mustBe(known, name) });
    }
    return value as Value<S[keyof S]>;
  };
  const mapping = Object.fromEntries(
    Object.entries(shapes).map(([name, { schema }]) => [name, schema.$ref as string]),
  );
  return shaped(check, {
    oneOf: Object.values(shapes).map(({ schema }) => schema),
    discriminator: { propertyName: field, mapping },
    ...told,
  });
}

/** The same fields, each of which may be left out. */
export function partial<F extends Shapes>(
  fields: F,
): { readonly [K in keyof F]: Shape<Value<F[K]> | undefined> } {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.optional()])) as never;
}

/** A value as a message may show it: short, and never a whole body. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Number.isNaN(value)) return "a number with a fraction";
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    return "a number that is too large";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "bigint" ? String(value) : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}

export function mustBe(what: string, value: unknown): string {
  return value === undefined ? "is required" : `must be ${what}, got ${shown(value)}`;
}

function shaped<T>(check: Check<T>, { id, ...told }: Told): Shape<T> {
  if (id !== undefined && components.has(id)) throw new Error(`Two shapes are called ${id}.`);
  if (id !== undefined) components.set(id, told);
  const schema = id === undefined ? told : { $ref: `#/components/schemas/${id}` };
  // Beside a reference only a description is told.
  const and = (more: Schema) => (schema.$ref ? schema : { ...more, ...schema });
  return {
    id,
    check,
    schema,
    described: (description) => shaped(check, { ...schema, description }),
    optional: () =>
      shaped((value, problems) => (value === undefined ? undefined : check(value, problems)), schema),
    nullable: () =>
      shaped((value, problems) => (value === null ? null : check(value, problems)), and({ nullable: true })),
    default: (fallback) =>
      shaped(
        (value, problems) => (value === undefined ? fallback : check(value, problems)),
        and({ default: fallback }),
      ),
  };
}

function checkAt<T>(step: string | number, shape: Shape<T>, value: unknown, problems: Problem[]): T {
  const before = problems.length;
  const read = shape.check(value, problems);
  for (let at = before; at < problems.length; at++) problems[at]?.path.unshift(step);
  return read;
}

function refuse(problems: Problem[], message: string): void {
  problems.push({ path: [], message });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
