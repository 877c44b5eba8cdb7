import type { ErrorCode } from "../contract/errors.ts";
import type { Route } from "../contract/route.ts";
import { type Problem, shown } from "../contract/shape.ts";
import { type ErrorDetail, type Int64, MAX_INT64 } from "../contract/shapes.ts";
import { fail } from "../core/failure.ts";
import { some } from "../core/some.ts";
import { type QueryReader, queryReader } from "./query.ts";

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
      const problems: Problem[] = [];
      for (const name of pathNames) input[name] = pathId(name, path[name] ?? "", problems);
      query ??= queryReader(route.query ?? {});
      query(search, input, problems);
      if (problems.length > 0) refuse("invalid_parameter", "The request", problems);
      return input;
    },
    body(value) {
      const problems: Problem[] = [];
      const body = route.body?.check(value, problems);
      if (problems.length === 0) return body;
      refuse("invalid_body", "The body", problems);
    },
  };
}

/** 1 to 19 digits within int64; exact, so that it never names another record. */
function pathId(name: string, text: string, problems: Problem[]): Int64 {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const id = /^\d{16,19}$/.test(text) ? BigInt(text) : null;
  if (id !== null && id <= MAX_INT64) return id <= Number.MAX_SAFE_INTEGER ? Number(id) : id;
  problems.push({
    path: [name],
    message: `must be an id of 1 to 19 digits, at most ${MAX_INT64}, got ${shown(text)}`,
  });
  return 0;
}

/** A problem as the caller can act on it. */
function detail({ path, message }: Problem): ErrorDetail {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
  return { field: path.length === 0 ? "body" : steps.join("").replace(/^\./, ""), message };
}

/** Problems that are told one by one; a body can have a million. */
const TOLD_PROBLEMS = 100;

/** The first problems in one sentence, and those that are told in the details. */
function refuse(code: ErrorCode, what: string, problems: readonly Problem[]): never {
  const count = problems.length;
  const details = problems.slice(0, TOLD_PROBLEMS).map(detail);
  const sentence = details.slice(0, 3).map(({ field, message }) => `${field} ${message}`);
  const rest = count > 3 ? "; ..." : "";
  if (count > TOLD_PROBLEMS) details.push({ field: "...", message: `and ${count - TOLD_PROBLEMS} more` });
  fail(code, `${what} has ${some(count, "problem")}: ${sentence.join("; ")}${rest}.`, details);
}
