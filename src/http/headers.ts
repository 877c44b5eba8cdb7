import { API_VERSION } from "../contract/api.ts";
import { fail } from "../core/failure.ts";
import { holdsKey } from "../core/key-format.ts";

const versions = new Set(["1", "1.0", API_VERSION]);

/** Refuses a version that this server does not speak. */
export function requireVersion(version: string | null): void {
  if (version === null || versions.has(version)) return;
  fail(
    "unsupported_version",
    `API-Version "${version}" is not spoken here. Leave it out, or send 1, 1.0 or ${API_VERSION}.`,
  );
}

/** Refuses a caller that does not take what the operation answers with. */
export function requireAccepted(accept: string | null, type: string): void {
  if (accept === null || accept === "*/*" || accept === type || accept === "") return;
  if (takes(accept, type)) return;
  fail("not_acceptable", `Answers are ${type}, which Accept "${accept}" excludes. Leave the header out.`);
}

/** The most exact range that covers the type decides, as RFC 9110 says. */
function takes(accept: string, wanted: string): boolean {
  const qualities = new Map<string, boolean>();
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    qualities.set(type, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)));
  }
  const [kind] = wanted.split("/");
  return qualities.get(wanted) ?? qualities.get(`${kind}/*`) ?? qualities.get("*/*") ?? false;
}

/** The last event that a caller has, if it says so; what is no id of an event is refused. */
export function lastEventId(given: string | null): string | undefined {
  if (given === null || given === "") return undefined;
  if (/^\d{1,16}$/.test(given) && Number.isSafeInteger(Number(given))) return given;
  const message = "must be the id of an event";
  fail("invalid_parameter", `The header Last-Event-ID ${message}.`, [{ field: "Last-Event-ID", message }]);
}

/** The caller's own request id if it is safe to repeat. */
export function safeRequestId(given: string | null): string | null {
  const isSafe = given !== null && /^[\w.:/+=@-]{1,128}$/.test(given) && !holdsKey(given);
  return isSafe ? given : null;
}

/** An `Idempotency-Key` is 1 to 255 visible characters. */
export function idempotencyKey(given: string | null): string | undefined {
  if (given === null) return undefined;
  if (/^[\x21-\x7e]{1,255}$/.test(given)) return given;
  const message = "must be 1 to 255 visible ASCII characters without spaces";
  fail("invalid_parameter", `The header Idempotency-Key ${message}.`, [
    { field: "Idempotency-Key", message },
  ]);
}

/** The strong tags of `If-Match`, or `any`; weak ones never match, as RFC 9110 says. */
export function ifMatchTags(given: string | null): string[] | "any" | undefined {
  if (given === null) return undefined;
  if (given.trim() === "*") return "any";
  if (/^\s*(W\/)?"[^"]*"(\s*,\s*(W\/)?"[^"]*")*\s*$/.test(given)) {
    return [...given.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, tag]) => (weak ? [] : [tag as string]));
  }
  const message = 'must be * or ETags in double quotes, such as "p3"';
  fail("invalid_parameter", `The header If-Match ${message}.`, [{ field: "If-Match", message }]);
}

/** A condition is heeded or refused, never ignored: whoever sends it relies on it. */
export function refuseCondition(header: "If-Match" | "If-None-Match", operation: string): never {
  const message = `must not be sent with ${operation}, which ${header === "If-Match" ? "compares no ETag" : "is no read"}`;
  fail("invalid_parameter", `The header ${header} ${message}.`, [{ field: header, message }]);
}

/** Whether `If-None-Match` names the tag of what would be sent. */
export function noneMatchHits(given: string | null, tag: string): boolean {
  if (given === null) return false;
  if (given.trim() === "*") return true;
  return [...given.matchAll(/"([^"]*)"/g)].some(([, each]) => each === tag);
}
