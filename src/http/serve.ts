import type { Server } from "bun";
import { Failure } from "../core/failure.ts";
import { addressReader, type TrustedProxies } from "./address.ts";
import { commonHeaders, refusal, responseOf } from "./answer.ts";
import { LARGE_BODY_BYTES } from "./body.ts";
import { type Path, paths } from "./endpoint.ts";
import { type Handling, handler } from "./handle.ts";
import type { PathRequest } from "./operate.ts";

/** Longer than any deadline of ours, so that we answer before the runtime hangs up. */
export const IDLE_SECONDS = 30;

export type HttpServer = Server<undefined>;
export type Page = (request: Request) => Response | Promise<Response>;

export interface Serving extends Omit<Handling, "isOverloaded" | "addressOf"> {
  readonly trustProxy: TrustedProxies;
  readonly host: string;
  readonly port: number;
  readonly maxPendingRequests: number;
  /** What is served beside the API, without key or limits. */
  readonly pages: Readonly<Record<string, Page>>;
}

/** Starts to listen: Bun's route table, made from the contract. */
export function serve({ host, port, maxPendingRequests, pages, trustProxy, ...house }: Serving): HttpServer {
  const readAddress = addressReader(trustProxy);
  const handle = handler({
    ...house,
    isOverloaded: () => server.pendingRequests > maxPendingRequests,
    addressOf: (request) =>
      readAddress(server.requestIP(request)?.address ?? "unknown", request.headers.get("x-forwarded-for")),
  });
  const routes: Record<string, (request: PathRequest) => Response | Promise<Response>> = {};
  for (const path of paths())
    routes[path.pattern.replace(/\{(\w+)\}/g, ":$1")] = (request) => handle(path, request);
  for (const [pattern, page] of Object.entries(pages)) {
    const path: Path = { pattern, methods: {}, allow: "GET, HEAD, OPTIONS" };
    routes[pattern] = (request) => (isRead(request) ? page(request) : handle(path, request));
  }

  const server: HttpServer = Bun.serve({
    hostname: host,
    port,
    routes: routes as never,
    fetch: (request) => handle(null, request),
    development: false,
    // Two servers must not share a port by accident.
    reusePort: false,
    idleTimeout: IDLE_SECONDS,
    // Above our own limits, which answer with an Error object.
    maxRequestBodySize: Math.max(LARGE_BODY_BYTES * 2, 1024 ** 3),
    error(error) {
      house.log.error(error.message, { stack: error.stack });
      const failure = new Failure("internal_error", "Something went wrong on our side.");
      const answer = refusal(failure);
      return responseOf(answer, house.newRequestId(), new Headers(commonHeaders), [answer.headers]);
    },
  });
  return server;
}

function isRead(request: Request): boolean {
  return request.method === "GET" || request.method === "HEAD";
}

/** Ids that differ between processes by a random part and within one by a number. */
export function requestIds(random: string): () => string {
  let last = 0;
  return () => `${random}-${(++last).toString(36)}`;
}
