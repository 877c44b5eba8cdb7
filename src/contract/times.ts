import { mustBe, string } from "./shape.ts";

const FIRST_YEAR_MS = Date.parse("0000-01-01T00:00:00Z");
const AFTER_LAST_YEAR_MS = Date.UTC(10_000, 0, 1);
/** Every day that a calendar has, and no 30th of February. */
const DATE =
  "(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))";
const TIME = "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?";
const OFFSET = "(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
const wholeDate = new RegExp(`^${DATE}$`);
const wholeDateTime = new RegExp(`^${DATE}T${TIME}${OFFSET}$`);

/** A time that a caller gives. */
export const dateTime = string({ format: "date-time" }, (value) =>
  isDateTime(value) ? [] : [dateTimeProblem(value)],
);
/** A time that the service tells. */
export const moment = string({ format: "date-time" }, (value) =>
  isDateTime(value) && value.endsWith("Z") ? [] : ["must be an RFC 3339 date-time in UTC"],
);
/** A day that the calendar has. */
export const date = string({ format: "date", pattern: wholeDate.source }, (value) =>
  wholeDate.test(value) ? [] : ["must be a date such as 2026-11-30"],
);

/** In an address a plus stands for a space. Of what is well formed it is said why it is not taken. */
function dateTimeProblem(value: string): string {
  if (wholeDateTime.test(value)) return mustBe("within the years 0000 to 9999 in UTC", value);
  if (isDateTime(value.replace(/:60(?=[.Z+-])/, ":59"))) return mustBe("a time without a leap second", value);
  const problem = mustBe("an RFC 3339 date-time with an offset, such as 2026-11-30T12:00:00Z", value);
  return isDateTime(value.replace(" ", "+")) ? `${problem}; write + as %2B in an address` : problem;
}

/** An offset can carry the first and the last hours out of what RFC 3339 can write in UTC. */
function isDateTime(value: string): boolean {
  if (!wholeDateTime.test(value)) return false;
  const time = Date.parse(value);
  return time >= FIRST_YEAR_MS && time < AFTER_LAST_YEAR_MS;
}
