import { UnreadableAnswerError } from "./errors.ts";
import type { Route } from "./route.ts";

/** JSON with bigints written as the integers they are. */
export function jsonOf(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map((each) => jsonOf(each ?? null))}]`;
  if (!isPlain(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${jsonOf(field)}`)}}`;
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
