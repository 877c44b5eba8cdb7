import { after, attempt } from "../core/after.ts";
import { Failure } from "../core/failure.ts";
import { redacted } from "../core/key-format.ts";
import type { Awaitable } from "../core/ports.ts";
import { addressReader, type TrustedProxies } from "./address.ts";
import { type Answer, commonLines, jsonLine, refusal } from "./answer.ts";
import type { KnownCaller } from "./caller.ts";
import { type Path, paths } from "./endpoint.ts";
import type { Handling } from "./exchange.ts";
import { handler, isRead, replyOf } from "./handle.ts";
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

/** A page that is asked for. */
interface AskedPage {
  readonly request: Incoming;
  readonly path: Path;
  readonly page: Page;
  readonly started: number;
}

export interface Serving extends Omit<Handling, "isOverloaded" | "addressOf"> {
  readonly trustProxy: TrustedProxies;
  readonly host: string;
  readonly port: number;
  readonly maxPendingRequests: number;
  readonly maxConnections: number;
  /** What is served beside the API, without key or limits. */
  readonly pages: Readonly<Record<string, Page>>;
  /** What is served beside the API to a key of the role admin: without limits, while it is banned too. */
  readonly adminPages: Readonly<Record<string, Page>>;
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
    adminPages,
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
  const placed = (some: Readonly<Record<string, Page>>, isForAdmins: boolean) =>
    Object.entries(some).map(([pattern, page]) => {
      const path: Path = { pattern, methods: {}, allow: "GET, HEAD, OPTIONS", isForAdmins };
      return [pattern, { path, page }] as const;
    });
  const find = routes<{ readonly path: Path; readonly page?: Page }>([
    ...[...paths(house.meter.place), ...beside].map((path) => [path.pattern, { path }] as const),
    ...placed(pages, false),
    ...placed(adminPages, true),
  ]);
  const answered = (request: Incoming): Awaitable<Reply> => {
    const found = find(request.pathname);
    if (!found) return handle(request.pathname === wholeServer.pattern ? wholeServer : null, {}, request);
    const { page, path } = found.value;
    if (!page || !isRead(request.method)) return handle(path, found.params, request);
    const asked = { request, path, page, started: performance.now() };
    if (!path.isForAdmins) return after(page(), shown, asked);
    return after(house.callers.identify(request, house.clock()), identified, asked);
  };
  /** Whoever is no admin is refused as elsewhere, and pays for it. */
  const identified = (caller: KnownCaller | Failure, asked: AskedPage): Awaitable<Reply> =>
    caller instanceof Failure || caller.role !== "admin"
      ? handle(asked.path, {}, asked.request)
      : after(asked.page(), shown, asked);
  const shown = (answer: PageAnswer, { request, path, started }: AskedPage): Reply => {
    const isKnown =
      answer.tag !== undefined && noneMatchHits(request.headers.get("if-none-match"), answer.tag);
    const sent = isKnown ? { ...answer, status: 304, body: null } : answer;
    const place = house.meter.place(request.method, path.pattern);
    house.meter.answered(place, sent.status, performance.now() - started, undefined);
    return replyOf(sent, house.cors.headerLines(request));
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
    house.meter.answered(unreadPlace, status, 0, code);
    return replyOf(refusal(failure), `${commonLines}${linesOf({ "x-request-id": requestId })}`, jsonLine);
  };
  const unreadPlace = house.meter.place(unread.method, "");
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
  traceId: undefined,
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
