import type { ErrorCode } from "./errors.ts";
import type { EventType } from "./event-types.ts";
import type { AnyShape, Fields, Shapes, Value } from "./shape.ts";

/** What a key may do; each role includes the ones before it. */
export const roles = ["customer", "staff", "admin"] as const;
export type Role = (typeof roles)[number];

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** An endpoint as a value: routes, validation, the OpenAPI document and the tests follow from it. */
export interface Route {
  /** Method and path, with `{name}` for each path parameter. */
  readonly at: `${Method} /${string}`;
  readonly summary: string;
  readonly description?: string;
  /** The least role that may call it. */
  readonly role: Role;
  readonly params?: Shapes;
  readonly query?: Shapes;
  readonly body?: AnyShape;
  /** The shape of a success; without one the answer is 204. */
  readonly returns?: AnyShape;
  /** A new record's address, with `{field}` from the record; it makes the answer 201. */
  readonly location?: string;
  /**
   * `record`: one record with an ETag; `list`: a page with cursors; `plain`: neither; `stream`: server-sent events that keep
   * coming, each with the shape of `returns` as its data.
   */
  readonly kind: "record" | "list" | "plain" | "stream";
  /** What this operation refuses by a rule of its own; what every endpoint owes is added to it. */
  readonly errors: readonly ErrorCode[];
  readonly stability?: "beta" | "experimental";
  /** The operation that replaces this one, which then has a deprecation and a sunset date. */
  readonly successor?: string;
  /** A body of up to 8 MiB instead of 64 KiB. */
  readonly large?: true;
  /** Asking costs nothing, and limits and bans do not refuse it. */
  readonly uncounted?: true;
  /** It changes who may do what: every key is looked up anew afterwards. */
  readonly access?: "changes";
  /** It makes something that nobody can guess, and is given random bytes for that. */
  readonly random?: true;
  /** 201 for what is made at an address that only its list has. */
  readonly status?: 201;
  readonly example: { readonly body?: unknown; readonly returns?: unknown };
}

type ValuesOf<S> = S extends Shapes ? { [K in keyof S]: Value<S[K]> } : unknown;

/** What an operation is given: its path and query parameters by name, and its body. */
export type Input<R extends Route> = Fields<
  ValuesOf<R["params"]> &
    ValuesOf<R["query"]> &
    (R["body"] extends AnyShape ? { body: Value<R["body"]> } : unknown)
>;

/** What an operation answers; that of a stream says what is to be sent. */
export type Output<R extends Route> = R["kind"] extends "stream"
  ? Subscription
  : R["returns"] extends AnyShape
    ? Value<R["returns"]>
    : undefined;

/** The events that a stream sends. */
export interface Subscription {
  /** Those behind this one. */
  readonly after: number;
  readonly types?: readonly EventType[] | undefined;
  /** The catalogue's and those of this client; left out: all. */
  readonly clientId?: number | undefined;
}

/** A tree of routes: the keys joined by dots are the operation's one name everywhere. */
export interface Api {
  readonly [name: string]: Route | Api;
}

/** An endpoint with the name it has in the API. */
export interface Endpoint {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly route: Route;
}

/** Every endpoint of an API, in the order of its declaration. */
export function endpoints(api: Api, prefix = ""): Endpoint[] {
  return Object.entries(api).flatMap(([name, entry]) => {
    if (!isRoute(entry)) return endpoints(entry, `${prefix}${name}.`);
    const [method, path] = entry.at.split(" ") as [Method, string];
    return [{ id: prefix + name, method, path, route: entry }];
  });
}

/** The status of this route's success. */
export function successStatus(route: Route): 200 | 201 | 204 {
  if (!route.returns) return 204;
  return route.status ?? (route.location ? 201 : 200);
}

/** The media type of this route's success. */
export function mediaType({ kind }: Route): "application/json" | "text/event-stream" {
  return kind === "stream" ? "text/event-stream" : "application/json";
}

export function isWrite(method: Method): boolean {
  return method !== "GET";
}

/** Whether a write changes one record that is there already, so that `If-Match` has a meaning. */
export function takesIfMatch(method: Method, route: Route): boolean {
  return isWrite(method) && route.kind === "record" && route.location === undefined;
}

/** Whether one record is read, of which `If-None-Match` may say that the caller has it. */
export function takesIfNoneMatch(method: Method, { kind }: Route): boolean {
  return !isWrite(method) && kind === "record";
}

function isRoute(entry: Route | Api): entry is Route {
  return typeof entry.at === "string";
}
