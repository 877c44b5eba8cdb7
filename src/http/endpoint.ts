import { everyEndpoint } from "../contract/api.ts";
import { type Endpoint, isWrite, type Method, type Route, roles, successStatus } from "../contract/route.ts";
import { type AnyOperation, operation } from "../core/operations.ts";
import { type InputReader, inputReader } from "./input.ts";

/** An endpoint with all that can be worked out before the first request. */
export interface Prepared {
  readonly id: string;
  readonly route: Route;
  readonly isWrite: boolean;
  readonly rank: number;
  readonly successStatus: number;
  readonly input: InputReader;
  readonly operation: AnyOperation;
  readonly successor: Endpoint | undefined;
}

/** A path with what its methods do. */
export interface Path {
  readonly pattern: string;
  readonly methods: Readonly<Partial<Record<string, Prepared>>>;
  readonly allow: string;
}

/** Every path of the contract. */
export function paths(): Path[] {
  const byPath = Map.groupBy(everyEndpoint, ({ path }) => path);
  return Array.from(byPath, ([pattern, endpoints]) => {
    const methods: Record<string, Prepared> = {};
    for (const endpoint of endpoints) methods[endpoint.method] = prepared(endpoint);
    if (methods.GET) methods.HEAD = methods.GET;
    return { pattern, methods, allow: [...order.filter((method) => methods[method]), "OPTIONS"].join(", ") };
  });
}

export function rankOf(role: Route["role"]): number {
  return roles.indexOf(role);
}

const order: readonly (Method | "HEAD")[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

function prepared({ id, method, route }: Endpoint): Prepared {
  return {
    id,
    route,
    isWrite: isWrite(method),
    rank: rankOf(route.role),
    successStatus: successStatus(route),
    input: inputReader(route),
    operation: operation(id),
    successor: everyEndpoint.find((endpoint) => endpoint.id === route.successor),
  };
}
