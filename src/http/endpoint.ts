import { everyEndpoint } from "../contract/api.ts";
import {
  type Endpoint,
  isWrite,
  type Method,
  mediaType,
  type Route,
  roles,
  successStatus,
  takesIfMatch,
} from "../contract/route.ts";
import { type AnyOperation, operation } from "../core/operations.ts";
import type { Awaitable } from "../core/ports.ts";
import type { Answer } from "./answer.ts";
import type { Exchange, Meter } from "./exchange.ts";
import { type InputReader, inputReader } from "./input.ts";
import { linesOf } from "./wire/reply.ts";

/** An endpoint with all that can be worked out before the first request. */
export interface Prepared {
  readonly id: string;
  /** Where its answers are counted. */
  readonly place: number;
  readonly route: Route;
  readonly isWrite: boolean;
  readonly isStream: boolean;
  /** What it answers with. */
  readonly mediaType: string;
  readonly takesIfMatch: boolean;
  readonly rank: number;
  readonly successStatus: number;
  readonly input: InputReader;
  readonly operation: AnyOperation;
  /** Where a new record is found. */
  readonly location: Filled | undefined;
  /** The header that says how far the operation can be relied on, if that is not for good. */
  readonly stabilityLine: string;
  readonly successor: (Endpoint & { readonly fill: Filled }) | undefined;
}

type Filled = (values: Readonly<Record<string, unknown>>) => string;

/** A path with what its methods do. */
export interface Path {
  readonly pattern: string;
  readonly methods: Readonly<Partial<Record<string, Prepared>>>;
  readonly allow: string;
  /** What is read here is for admins. */
  readonly isForAdmins?: boolean;
  /** What is done here that is no operation of the API, by method. */
  readonly beside?: Readonly<Partial<Record<string, Beside>>>;
  /** The method that is done for whoever is known, limited or banned: to leave is always allowed. */
  readonly leaving?: string;
}

/** Answers a request that was let in and paid for, whoever sent it. */
export type Beside = (exchange: Exchange) => Awaitable<Answer>;

/** Every path of the contract; `place` gives each of its methods a number. */
export function paths(place: Meter["place"]): Path[] {
  const byPath = Map.groupBy(everyEndpoint, ({ path }) => path);
  return Array.from(byPath, ([pattern, endpoints]) => {
    const methods: Record<string, Prepared> = {};
    for (const endpoint of endpoints)
      methods[endpoint.method] = prepared(endpoint, place(endpoint.method, pattern));
    if (methods.GET) methods.HEAD = { ...methods.GET, place: place("HEAD", pattern) };
    return { pattern, methods, allow: [...order.filter((method) => methods[method]), "OPTIONS"].join(", ") };
  });
}

export function rankOf(role: Route["role"]): number {
  return roles.indexOf(role);
}

const order: readonly (Method | "HEAD")[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

function prepared({ id, method, route }: Endpoint, place: number): Prepared {
  const successor = everyEndpoint.find((endpoint) => endpoint.id === route.successor);
  return {
    id,
    place,
    route,
    isWrite: isWrite(method),
    isStream: route.kind === "stream",
    mediaType: mediaType(route),
    takesIfMatch: takesIfMatch(method, route),
    rank: rankOf(route.role),
    successStatus: successStatus(route),
    input: inputReader(route),
    operation: operation(id),
    location: route.location === undefined ? undefined : filling(route.location),
    stabilityLine: route.stability ? linesOf({ "x-api-stability": route.stability }) : "",
    successor: successor && { ...successor, fill: filling(successor.path) },
  };
}

/** A template that fills in each `{name}`. */
function filling(template: string): Filled {
  // Every other part is a name.
  const parts = template.split(/\{(\w+)\}/);
  return (values) =>
    parts.map((part, at) => (at % 2 === 0 ? part : encodeURIComponent(String(values[part])))).join("");
}
