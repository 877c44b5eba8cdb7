import type { EventData } from "../contract/event-shapes.ts";
import type { EventType } from "../contract/event-types.ts";
import type { Api, Input, Output, Role, Route } from "../contract/route.ts";
import { fail } from "./failure.ts";
import type { Awaitable, Reads, Standing, Writes } from "./ports.ts";
import type { Rules } from "./rules.ts";

/** Who is calling, known from the key. */
export interface Caller {
  readonly clientId: number;
  readonly keyId: number;
  readonly role: Role;
}

export interface ReadContext {
  readonly caller: Caller;
  readonly store: Reads;
  readonly now: number;
  readonly rules: Rules;
  /** For an operation that tells of the limits. */
  readonly standing?: Standing | undefined;
}

export interface WriteContext extends ReadContext {
  readonly store: Writes;
  /** The ETags of `If-Match`. */
  readonly ifMatch?: readonly string[] | "any" | undefined;
  /** Says that who may do what has changed, and of whom: it goes into the audit trail, and keys are looked up anew. */
  audit(subject: string): void;
  /** Puts a change that lets nobody do more into the audit trail; the input is as all who read that may see it. */
  trail(subject: string, input: unknown): void;
  /** Random bytes for a new key. */
  random(): Uint8Array;
  /** Tells of a change, in its transaction; `clientId` is the one that it concerns, if not everybody. */
  emit<T extends EventType>(type: T, subject: string, data: EventData[T], clientId?: number): void;
}

/** What an operation gives: the record with its tag, or a page with the cursor of the next. */
export interface Result<T = unknown> {
  readonly body: T;
  readonly tag?: string;
  readonly next?: string | undefined;
  /** Of a list that grows: the cursor of what comes after this page, whether or not it is there yet. */
  readonly monitor?: string;
  /** What is shown this once and never kept. */
  readonly secret?: Readonly<Record<string, unknown>>;
}

/** An operation is a function of a context and an input; what it refuses it fails with. */
export type Operation<R extends Route> = (
  cx: R["at"] extends `GET ${string}` ? ReadContext : WriteContext,
  input: Input<R>,
) => Awaitable<Result<Output<R>>>;

/** An operation for every endpoint of an API, under the same names. */
export type Operations<A extends Api> = {
  readonly [K in keyof A]: A[K] extends Route ? Operation<A[K]> : A[K] extends Api ? Operations<A[K]> : never;
};

/** Refuses a write whose `If-Match` does not name the record's tag; `part` is what of a tag is compared. */
export function requireMatch({ ifMatch }: Pick<WriteContext, "ifMatch">, tag: string, part = whole): void {
  if (ifMatch === undefined || ifMatch === "any") return;
  if (ifMatch.some((given) => part(given) === part(tag))) return;
  const wanted = ifMatch.map((given) => `"${given}"`).join(", ") || "no strong ETag";
  fail(
    "precondition_failed",
    `If-Match asks for ${wanted}, but the record is now "${tag}". Read it again and repeat the change.`,
  );
}

function whole(tag: string): string {
  return tag;
}

/** Refuses a body whose `id` is another than the path's. */
export function requireSameId(bodyId: number | bigint | undefined, pathId: number | bigint): void {
  if (bodyId === undefined || bodyId === pathId) return;
  const message = `is read-only and must be the path's ${pathId} if given, got ${bodyId}`;
  fail("invalid_body", `The body has 1 problem: id ${message}.`, [{ field: "id", message }]);
}
