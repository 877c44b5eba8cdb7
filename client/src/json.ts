import { UnreadableAnswerError } from "./errors.ts";
import type { Route } from "./route.ts";

/** JSON with bigints written as the integers they are. What JSON would make nothing of, such as NaN, is not taken for nothing. */
export function jsonOf(what: string, value: unknown, name = "the body"): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value))
    return `[${value.map((each, index) => jsonOf(what, each ?? null, `[${index}]`))}]`;
  if (isPlain(value)) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${jsonOf(what, field, key)}`)}}`;
  }
  const text = JSON.stringify(value);
  if (text === undefined || (text === "null" && value !== null))
    throw new TypeError(`${what}: ${name} is ${String(value)}, which is no JSON.`);
  return text;
}

/** A query with a repeated parameter for each of several values; `?` included. */
export function queryOf(what: string, values: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value) && value.length === 0)
      throw new TypeError(
        `${what}: ${name} is an empty list, which would find everything. Leave it out, or do not ask.`,
      );
    for (const each of [value].flat()) if (each !== undefined) query.append(name, String(each));
  }
  const text = String(query);
  return text && `?${text}`;
}

/** What an answer or an event holds: a record, or a list where one is asked for. Somebody between may have sent a page of his own. */
export function dataIn<T>(text: string, { what, isList }: Route): T {
  let cause: unknown;
  try {
    const data = JSON.parse(text);
    if (isList ? Array.isArray(data) : Object(data) === data) return data;
  } catch (error) {
    cause = error;
  }
  throw new UnreadableAnswerError(`${what} was answered with something other than its JSON.`, { cause });
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !("toJSON" in value);
}
