import { z } from "zod";
import type { Route, Shapes } from "../contract/route.ts";
import { type ErrorDetail, type Int64, MAX_INT64, shown } from "../contract/shapes.ts";
import { fail } from "../core/failure.ts";

/** Reads an endpoint's parameters and body; what is wrong is told all at once. */
export interface InputReader {
  parameters(path: Readonly<Record<string, string>>, search: string): Record<string, unknown>;
  body(value: unknown): unknown;
}

export function inputReader(route: Route): InputReader {
  const pathNames = Object.keys(route.params ?? {});
  // Made for the first request: a start does not wait for what few of its routes need.
  let query: QueryReader | undefined;
  return {
    parameters(path, search) {
      const input: Record<string, unknown> = {};
      const problems: ErrorDetail[] = [];
      for (const name of pathNames) input[name] = pathId(name, path[name] ?? "", problems);
      query ??= queryReader(route.query ?? {});
      query(search, input, problems);
      if (problems.length > 0) fail("invalid_parameter", summary("The request", problems), told(problems));
      return input;
    },
    body(value) {
      const result = (route.body as z.ZodType).safeParse(value, { reportInput: true });
      if (result.success) return result.data;
      const problems = result.error.issues.flatMap((issue) => details(issue, route.body as z.ZodType));
      fail("invalid_body", summary("The body", problems), told(problems));
    },
  };
}

/** 1 to 19 digits within int64; exact, so that it never names another record. */
function pathId(field: string, text: string, problems: ErrorDetail[]): Int64 {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const id = /^\d{16,19}$/.test(text) ? BigInt(text) : null;
  if (id !== null && id <= MAX_INT64) return id <= Number.MAX_SAFE_INTEGER ? Number(id) : id;
  problems.push({
    field,
    message: `must be an id of 1 to 19 digits, at most ${MAX_INT64}, got ${shown(text)}`,
  });
  return 0;
}

type QueryReader = (search: string, into: Record<string, unknown>, problems: ErrorDetail[]) => void;

function queryReader(shapes: Shapes): QueryReader {
  const parameters = Object.entries(shapes).map(([name, shape]) => ({ name, shape, kind: kindOf(shape) }));
  const known = new Set(parameters.map(({ name }) => name));
  const defaults = Object.fromEntries(
    parameters.flatMap(({ name, shape }) => {
      const value = shape.safeParse(undefined).data;
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return (search, into, problems) => {
    Object.assign(into, defaults);
    if (search === "") return;
    const given = givenIn(search);
    for (const name of given.keys()) {
      if (known.has(name)) continue;
      const message =
        known.size === 0
          ? "is unknown; this operation takes none"
          : `is unknown; known are ${[...known].join(", ")}`;
      problems.push({ field: name.slice(0, 100), message });
    }
    for (const { name, shape, kind } of parameters) {
      const values = given.get(name);
      if (!values) continue;
      if (values.length > 1 && !kind.isArray) {
        problems.push({ field: name, message: `must be given once, is given ${values.length} times` });
        continue;
      }
      const coerced = values.map((text) => coerce(kind.type, text));
      const result = shape.safeParse(kind.isArray ? coerced : coerced[0], { reportInput: true });
      if (result.success) into[name] = result.data;
      else problems.push(...result.error.issues.flatMap((issue) => details(issue, shape, name)));
    }
  };
}

function givenIn(search: string): Map<string, string[]> {
  const given = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(search)) {
    const values = given.get(name);
    if (values) values.push(value);
    else given.set(name, [value]);
  }
  return given;
}

interface Kind {
  readonly type: unknown;
  readonly isArray: boolean;
}

/** How a parameter is written, read off its JSON schema. */
function kindOf(shape: z.ZodType): Kind {
  const schema = z.toJSONSchema(shape, { unrepresentable: "any", io: "input" });
  const isArray = schema.type === "array";
  return { isArray, type: isArray ? (schema.items as { type?: unknown }).type : schema.type };
}

function coerce(type: unknown, text: string): unknown {
  if (type === "integer" && /^-?\d{1,19}$/.test(text)) {
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  }
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** A problem as the caller can act on it. */
function details(issue: z.core.$ZodIssue, shape: z.ZodType, prefix = ""): ErrorDetail[] {
  const field =
    prefix + issue.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  const at = field.replace(/^\./, "");
  // Every count has a limit of its own, below the one that any integer has.
  if (issue.code === "too_big" && issue.maximum === Number.MAX_SAFE_INTEGER) return [];
  if (issue.code !== "unrecognized_keys") return [{ field: at || "body", message: messageOf(issue) }];
  const fields = fieldsOf(shape);
  const known = fields.length > 0 ? `; known are ${fields.join(", ")}` : "";
  return issue.keys.map((key) => ({
    field: at ? `${at}.${key.slice(0, 100)}` : key.slice(0, 100),
    message: `is not a known field${known}`,
  }));
}

function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "is required";
      return `must be ${named[issue.expected] ?? issue.expected}, got ${shown(issue.input)}`;
    case "invalid_value":
      return issue.input === undefined
        ? "is required"
        : `must be one of ${issue.values.join(", ")}, got ${shown(issue.input)}`;
    case "too_small":
      return issue.origin === "array"
        ? `must have at least ${issue.minimum} items`
        : `must be at least ${issue.minimum}, got ${shown(issue.input)}`;
    case "too_big":
      return issue.origin === "array"
        ? `must have at most ${issue.maximum} items, has ${(issue.input as unknown[]).length}`
        : `must be at most ${issue.maximum}, got ${shown(issue.input)}`;
    default:
      return issue.message;
  }
}

const named: Readonly<Record<string, string>> = {
  int: "an integer",
  number: "an integer",
  string: "a string",
  boolean: "true or false",
  object: "an object",
  array: "an array",
};

function fieldsOf(shape: z.ZodType): string[] {
  if (shape instanceof z.ZodArray) return fieldsOf(shape.element as z.ZodType);
  return shape instanceof z.ZodObject ? Object.keys(shape.shape) : [];
}

/** Problems that are told one by one; a body can have a million. */
const TOLD_PROBLEMS = 100;

function told(problems: readonly ErrorDetail[]): readonly ErrorDetail[] {
  if (problems.length <= TOLD_PROBLEMS) return problems;
  const rest = { field: "...", message: `and ${problems.length - TOLD_PROBLEMS} more` };
  return [...problems.slice(0, TOLD_PROBLEMS), rest];
}

/** The first problems in one sentence; all of them are in the details. */
function summary(what: string, problems: readonly ErrorDetail[]): string {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const first = problems.slice(0, 3).map(({ field, message }) => `${field} ${message}`);
  const rest = problems.length > 3 ? "; ..." : "";
  return `${what} has ${count}: ${first.join("; ")}${rest}.`;
}
