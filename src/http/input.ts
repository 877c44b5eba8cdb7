import type { ErrorCode } from "../contract/errors.ts";
import type { Route } from "../contract/route.ts";
import { type AnyShape, type Problem, type Schema, type Shapes, shown } from "../contract/shape.ts";
import { type ErrorDetail, type Int64, MAX_INT64 } from "../contract/shapes.ts";
import { fail } from "../core/failure.ts";
import { some } from "../core/some.ts";

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
      if (problems.length > 0) refuse("invalid_parameter", "The request", problems, problems.length);
      return input;
    },
    body(value) {
      const problems: Problem[] = [];
      const body = route.body?.check(value, problems);
      if (problems.length === 0) return body;
      const first = problems.slice(0, TOLD_PROBLEMS).map((problem) => detail(problem));
      refuse("invalid_body", "The body", first, problems.length);
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
      const value = shape.check(undefined, []);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return (search, into, problems) => {
    Object.assign(into, defaults);
    if (search === "") return;
    const given = givenIn(search, problems);
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
        problems.push({
          field: name,
          message: `must be given once, is given ${some(values.length, "time")}`,
        });
        continue;
      }
      const coerced = values.map((text) => coerce(kind.type, text));
      const wrong: Problem[] = [];
      into[name] = shape.check(kind.isArray ? coerced : coerced[0], wrong);
      problems.push(...wrong.map((problem) => detail(problem, name)));
    }
  };
}

/** The parameters and their values; what is not UTF-8 would be read as something else, and is told. */
function givenIn(search: string, problems: ErrorDetail[]): Map<string, string[]> {
  const given = new Map<string, string[]>();
  const sound = search.includes("%") ? soundParts(search, problems) : search;
  for (const [name, value] of new URLSearchParams(sound)) {
    const values = given.get(name);
    if (values) values.push(value);
    else given.set(name, [value]);
  }
  return given;
}

function soundParts(search: string, problems: ErrorDetail[]): string {
  const isSound = (part: string) => {
    try {
      decodeURIComponent(part);
      return true;
    } catch {
      const [name = "", ...value] = part.split("=");
      const message = `must be percent-encoded UTF-8, got ${shown(value.join("="))}`;
      problems.push({ field: name.slice(0, 100), message });
      return false;
    }
  };
  return search.slice(1).split("&").filter(isSound).join("&");
}

interface Kind {
  readonly type: unknown;
  readonly isArray: boolean;
}

/** How a parameter is written. */
function kindOf({ schema }: AnyShape): Kind {
  const isArray = schema.type === "array";
  return { isArray, type: isArray ? (schema.items as Schema).type : schema.type };
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
function detail({ path, message }: Problem, parameter = ""): ErrorDetail {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
  const field = (parameter + steps.join("")).replace(/^\./, "");
  return { field: field === "" && path.length === 0 ? "body" : field, message };
}

/** Problems that are told one by one; a body can have a million. */
const TOLD_PROBLEMS = 100;

/** The first problems in one sentence, and those that are told in the details. */
function refuse(code: ErrorCode, what: string, problems: readonly ErrorDetail[], count: number): never {
  const sentence = problems.slice(0, 3).map(({ field, message }) => `${field} ${message}`);
  const rest = count > 3 ? "; ..." : "";
  const details = problems.slice(0, TOLD_PROBLEMS);
  if (count > TOLD_PROBLEMS) details.push({ field: "...", message: `and ${count - TOLD_PROBLEMS} more` });
  fail(code, `${what} has ${some(count, "problem")}: ${sentence.join("; ")}${rest}.`, details);
}
