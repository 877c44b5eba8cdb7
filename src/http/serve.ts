import { after, attempt } from "../core/after.ts";
import { Failure } from "../core/failure.ts";
import { redacted } from "../core/key-format.ts";
import type { Awaitable } from "../core/ports.ts";
import { addressReader, type TrustedProxies } from "./address.ts";
import { type Answer, commonLines, jsonLine, refusal } from "./answer.ts";
import { type Path, paths } from "./endpoint.ts";
import type { Handling } from "./exchange.ts";
import { handler, replyOf } from "./handle.ts";
import { noneMatchHits } from "./headers.ts";
import { routes } from "./routes.ts";
import { type Listening, listen } from "./wire/listen.ts";
import { linesOf, type Reply } from "./wire/reply.ts";
import type { Incoming } from "./wire/request.ts";

export type Page = () => Awaitable<PageAnswer>;

export interface PageAnswer extends Answer {
  /** By which a caller knows that it has the page already. */
  readonly tag?: string;
}

export interface Serving extends Omit<Handling, "isOverloaded" | "addressOf"> {
  readonly trustProxy: TrustedProxies;
  readonly host: string;
  readonly port: number;
  readonly maxPendingRequests: number;
  readonly maxConnections: number;
  /** What is served beside the API, without key or limits. */
  readonly pages: Readonly<Record<string, Page>>;
  /** What a page asks beside the API: with limits, and a key or not. */
  readonly beside?: readonly Path[] | undefined;
  /** Whether the server is about to stop: an answer is the last on its connection. */
  readonly isStopping: () => boolean;
}

/** Starts to listen: what is asked for is found in a tree of paths, made from the contract. */
export function serve(serving: Serving): Listening {
  const {
    host,
    port,
    maxPendingRequests,
    maxConnections,
    pages,
    beside = [],
    trustProxy,
    isStopping,
    ...house
  } = serving;
  const readAddress = addressReader(trustProxy);
  const handle = handler({
    ...house,
    isOverloaded: () => listening.underWay > maxPendingRequests,
    addressOf: ({ peer, headers }) => readAddress(peer, headers.get("x-forwarded-for")),
  });
  const find = routes<{ readonly path: Path; readonly page?: Page }>([
    ...[...paths(), ...beside].map((path) => [path.pattern, { path }] as const),
    ...Object.entries(pages).map(
      ([pattern, page]) =>
        [pattern, { path: { pattern, methods: {}, allow: "GET, HEAD, OPTIONS" }, page }] as const,
    ),
  ]);
  const answered = (request: Incoming): Awaitable<Reply> => {
    const found = find(request.pathname);
    if (!found) return handle(request.pathname === wholeServer.pattern ? wholeServer : null, {}, request);
    const { page, path } = found.value;
    if (page && (request.method === "GET" || request.method === "HEAD")) return after(page(), shown, request);
    return handle(path, found.params, request);
  };
  const shown = (answer: PageAnswer, request: Incoming): Reply => {
    const isKnown =
      answer.tag !== undefined && noneMatchHits(request.headers.get("if-none-match"), answer.tag);
    return replyOf(
      isKnown ? { ...answer, status: 304, body: null } : answer,
      house.cors.headerLines(request),
    );
  };
  const onFault = (error: unknown) => {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    house.log.error(redacted(message), { stack: redacted(stack ?? "") });
  };
  const fault = (error: unknown): Reply => {
    onFault(error);
    return refused(new Failure("internal_error", "Something went wrong on our side."));
  };
  const refused = (failure: Failure): Reply => {
    const [time, requestId] = [house.clock(), house.newRequestId()];
    const { code, status } = failure;
    house.log.request({ ...unread, time, requestId, status, code });
    return replyOf(refusal(failure), `${commonLines}${linesOf({ "x-request-id": requestId })}`, jsonLine);
  };
  const listening = listen({
    host,
    port,
    maxConnections,
    isStopping,
    answer: (request) => attempt(answered, fault, request),
    refuse: refused,
    onCrowded: (closed) =>
      house.log.warn("More connections came than the limit of open files has room for; they were closed.", {
        connections: closed,
        most: maxConnections,
      }),
    onFault,
  });
  return listening;
}

/** What `OPTIONS *` asks about. */
const wholeServer: Path = {
  pattern: "*",
  methods: {},
  allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
};

/** What is not known of a request that could not be read. */
const unread = {
  method: "",
  path: "",
  operation: undefined,
  microseconds: 0,
  clientId: undefined,
  keyId: undefined,
};

/** Ids that differ between processes by a random part and within one by a number. */
export function requestIds(random: string): () => string {
  let [stems, stem, next] = [0, "", endings.length];
  return () => {
    if (next === endings.length) {
      stem = `${random}-${(stems++).toString(36)}`;
      next = 0;
    }
    return stem + endings[next++];
  };
}

/** The last two digits of an id: only what is before them is written as a number, once for all of them. */
const endings = Array.from({ length: 36 ** 2 }, (_, number) => number.toString(36).padStart(2, "0"));
