import { Failure } from "../core/failure.ts";

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

/** What is told when an operation's time is over. */
export function sunsetFailure({ sunsetAt }: Deprecation, at: string, successor: string): Failure {
  return new Failure(
    "operation_sunset",
    `${at} ended on ${new Date(sunsetAt).toISOString()}. Use ${successor}.`,
  );
}
