import { errors } from "../contract/errors.ts";
import { newRow, observe } from "./histogram.ts";

/** Seconds; the bounds that OpenTelemetry advises for HTTP. */
export const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Statuses that a server can answer with, and some room. */
const STATUSES = 48;
/** A caller can make methods up; only these are told apart, as OpenTelemetry has it. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const OTHER_METHOD = "_OTHER";
const codes = Object.keys(errors);

/** Requests at one place that were answered with one status. */
export interface Answers {
  readonly method: string;
  /** As the contract writes it; empty where no path was found. */
  readonly route: string;
  readonly status: number;
  readonly seconds: Float64Array;
}

export interface RequestMeter {
  /** The number of a place; asked for once, before requests, where there are many. */
  place(method: string, route: string): number;
  answered(place: number, status: number, milliseconds: number, code: string | undefined): void;
  answers(): Answers[];
  /** So many refusals of each code, none of them too. */
  refusals(): (readonly [code: string, count: number])[];
}

/** Counts requests: a look at a table and three additions for each, no text is looked up. */
export function requestMeter(): RequestMeter {
  const places: { readonly method: string; readonly route: string }[] = [];
  const placeNumbers = new Map<string, number>();
  /** Each place has one for each status, made when it is first answered with. */
  const rows: (Float64Array | undefined)[] = [];
  const statuses: number[] = [];
  const statusNumbers = new Int16Array(1000).fill(-1);
  const refused = new Float64Array(codes.length);
  const codeNumbers = new Map(codes.map((code, number) => [code, number]));
  /** The last one: most refusals are like the one before. */
  let [lastCode, lastNumber] = ["", 0];

  const newAnswers = (place: number, status: number): Float64Array => {
    if ((statusNumbers[status] as number) < 0) statusNumbers[status] = statuses.push(status) - 1;
    const row = newRow(REQUEST_SECONDS);
    rows[place * STATUSES + (statusNumbers[status] as number)] = row;
    return row;
  };
  return {
    place(asked, route) {
      const method = methods.has(asked) ? asked : OTHER_METHOD;
      const key = `${method} ${route}`;
      const known = placeNumbers.get(key);
      if (known !== undefined) return known;
      for (let status = 0; status < STATUSES; status++) rows.push(undefined);
      const number = places.push({ method, route }) - 1;
      placeNumbers.set(key, number);
      return number;
    },
    answered(place, status, milliseconds, code) {
      const number = statusNumbers[status] as number;
      const row = (number < 0 ? undefined : rows[place * STATUSES + number]) ?? newAnswers(place, status);
      observe(row, REQUEST_SECONDS, milliseconds / 1000);
      if (code === undefined) return;
      if (code !== lastCode) [lastCode, lastNumber] = [code, codeNumbers.get(code) as number];
      refused[lastNumber] = (refused[lastNumber] as number) + 1;
    },
    answers: () =>
      places.flatMap(({ method, route }, place) =>
        statuses.flatMap((status, number) => {
          const seconds = rows[place * STATUSES + number];
          return seconds ? [{ method, route, status, seconds }] : [];
        }),
      ),
    refusals: () => codes.map((code, number) => [code, refused[number] as number] as const),
  };
}
