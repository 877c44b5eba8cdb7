import { fail } from "../core/failure.ts";

/** The dates of a deprecated operation. */
export interface Deprecation {
  readonly deprecatedAt: number;
  readonly sunsetAt: number;
}

/** What every answer of a deprecated operation says: since when, until when, and what to use. */
export function deprecationHeaders(
  { deprecatedAt, sunsetAt }: Deprecation,
  successorPath: string,
): Record<string, string> {
  return {
    deprecation: `@${Math.floor(deprecatedAt / 1000)}`,
    sunset: new Date(sunsetAt).toUTCString(),
    link: `<${successorPath}>; rel="successor-version", </docs#deprecations>; rel="deprecation"; type="text/html"`,
  };
}

/** Refuses an operation whose time is over. */
export function requireBeforeSunset(
  { sunsetAt }: Deprecation,
  at: string,
  successor: string,
  now: number,
): void {
  if (now < sunsetAt) return;
  fail("operation_sunset", `${at} ended on ${new Date(sunsetAt).toISOString()}. Use ${successor}.`);
}
