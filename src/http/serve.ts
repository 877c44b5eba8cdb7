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
import { inOnePiece } from "./one-piece.ts";
import { routes } from "./routes.ts";
import { type Listening, listen } from "./wire/listen.ts";
import { linesOf, type Reply } from "./wire/reply.ts";
import type { Incoming } from "./wire/request.ts";

export type Page = () => Awaitable<PageAnswer>;

export interface PageAnswer extends Answer {
  /** By which a caller knows that it has the page already. */
  readonly tag?: string;
}

/** What is found at a path: operations, or a page. */
interface Place {
  readonly path: Path;
  readonly page?: Page;
}

/** A page that is asked for. */
interface AskedPage {
  readonly request: Incoming;
  readonly path: Path;
  readonly page: Page;
  readonly started: number;
}

type House = Omit<Handling, "isOverloaded" | "addressOf">;

export interface Serving extends House {
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
  const { host, port, maxPendingRequests, maxConnections, trustProxy, isStopping, ...served } = serving;
  const { pages, adminPages, beside = [], ...house } = served;
  const readAddress = addressReader(trustProxy);
  const handle = handler({
    ...house,
    isOverloaded: () => listening.underWay > maxPendingRequests,
    addressOf: ({ peer, headers }) => readAddress(peer, headers.get("x-forwarded-for")),
  });
  const find = routes<Place>([
    ...[...paths(house.meter.place), ...beside].map((path) => [path.pattern, { path }] as const),
    ...placed(pages, false),
    ...placed(adminPages, true),
  ]);
  const show = showing(house, handle);
  const { onFault, fault, refuse } = excuses(house);
  const answered = (request: Incoming): Awaitable<Reply> => {
    const found = find(request.pathname);
    if (!found) return handle(request.pathname === wholeServer.pattern ? wholeServer : null, {}, request);
    const { page, path } = found.value;
    return page && isRead(request.method) ? show(request, path, page) : handle(path, found.params, request);
  };
  const listening = listen({
    host,
    port,
    maxConnections,
    isStopping,
    answer: (request) => attempt(answered, fault, request),
    refuse,
    onCrowded: (closed) =>
      house.log.warn("More connections came than the limit of open files has room for; they were closed.", {
        connections: closed,
        most: maxConnections,
      }),
    onFault,
  });
  return listening;
}

/** Each page with the place where it is found. */
function placed(pages: Readonly<Record<string, Page>>, isForAdmins: boolean) {
  return Object.entries(pages).map(([pattern, page]) => {
    const path: Path = { pattern, methods: {}, allow: "GET, HEAD, OPTIONS", isForAdmins };
    return [pattern, { path, page }] as const;
  });
}

/** Shows pages: to everybody, or to admins. */
function showing({ meter, cors, callers, clock }: House, handle: ReturnType<typeof handler>) {
  const shown = (answer: PageAnswer, { request, path, started }: AskedPage): Reply => {
    const isKnown =
      answer.tag !== undefined && noneMatchHits(request.headers.get("if-none-match"), answer.tag);
    const sent = isKnown ? { ...answer, status: 304, body: null } : answer;
    const place = meter.place(request.method, path.pattern);
    meter.answered(place, sent.status, performance.now() - started, undefined);
    return replyOf(sent, cors.headerLines(request));
  };
  /** Whoever is no admin is refused as elsewhere, and pays for it. */
  const identified = (caller: KnownCaller | Failure, asked: AskedPage): Awaitable<Reply> =>
    caller instanceof Failure || caller.role !== "admin"
      ? handle(asked.path, {}, asked.request)
      : after(asked.page(), shown, asked);
  return (request: Incoming, path: Path, page: Page): Awaitable<Reply> => {
    const asked = { request, path, page, started: performance.now() };
    if (!path.isForAdmins) return after(page(), shown, asked);
    return after(callers.identify(request, clock()), identified, asked);
  };
}

/** What is said where no request was handled: what came is none, or something is wrong on our side. */
function excuses({ log, meter, clock, newRequestId }: House) {
  const unreadPlace = meter.place(unread.method, "");
  const onFault = (error: unknown): void => {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    log.error(redacted(message), { stack: redacted(stack ?? "") });
  };
  const refuse = (failure: Failure): Reply => {
    const [time, requestId] = [clock(), newRequestId()];
    const { code, status } = failure;
    log.request({ ...unread, time, requestId, status, code });
    meter.answered(unreadPlace, status, 0, code);
    return replyOf(refusal(failure), `${commonLines}${linesOf({ "x-request-id": requestId })}`, jsonLine);
  };
  const fault = (error: unknown): Reply => {
    onFault(error);
    return refuse(new Failure("internal_error", "Something went wrong on our side."));
  };
  return { onFault, fault, refuse };
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
      stem = inOnePiece(`${random}-${(stems++).toString(36)}`);
      next = 0;
    }
    return stem + endings[next++];
  };
}

/** The last two digits of an id: only what is before them is written as a number, once for all of them. */
const endings = Array.from({ length: 36 ** 2 }, (_, number) =>
  inOnePiece(number.toString(36).padStart(2, "0")),
);
