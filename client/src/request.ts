import { onAbort } from "./abort.ts";
import { routes } from "./api.ts";
import type { Answer } from "./call.ts";
import { deprecationNotice } from "./deprecation.ts";
import { ApiError, apiErrorOf, ConnectionError, PetstoreError, TimeoutError } from "./errors.ts";
import { dataIn, jsonOf, queryOf } from "./json.ts";
import { type CallOptions, type ChangeOptions, limitsOf, type Settings } from "./options.ts";
import type { Leave, Pace } from "./pace.ts";
import { rateLimitOf } from "./rates.ts";
import { retryWaitMs } from "./retry.ts";
import { pathOf, type Route, routeOf } from "./route.ts";
import { turns } from "./turn.ts";

/** One operation with everything that it is given. */
export interface Request {
  readonly route: Route;
  /** What the path names, in its order. */
  readonly ids: readonly unknown[];
  readonly input: unknown;
  readonly options: ChangeOptions;
}

/** What sends requests for a client. */
export type Send = <T>(request: Request) => Promise<Answer<T>>;

/** How the limit stands; it costs nothing to ask. */
const limits = routeOf("account.limits", routes.account.limits);
export const limitsQuestion = { route: limits, ids: [], input: undefined };

export function sender(settings: Settings, pace: Pace): Send {
  const turn = turns(pace, (options) => send({ ...limitsQuestion, options }));
  const noticed = new Set<string>();

  /** A call's whole life: its turn, a try, and a wait before the next. */
  async function send<T>({ route, ids, input, options }: Request): Promise<Answer<T>> {
    const { signal } = options;
    const isRead = route.method === "GET";
    const url = settings.baseUrl + pathOf(route, ids) + (isRead && input ? queryOf(route.what, input) : "");
    const init = initOf(route, input, options, settings.apiKey);
    const { maxRetries, timeoutMs } = limitsOf(options, settings);
    let isLost = false;
    /** A write whose answer was lost may have been done, unless a later try was judged and refused. */
    const doubtful = (error: unknown): never => {
      if (isLost && !isJudged(error) && error instanceof PetstoreError)
        error.message += " Whether it was done is not known.";
      throw error;
    };
    for (let tries = 1; ; tries += 1) {
      const leave = await turn(route, signal, tries > 1).catch(doubtful);
      const outcome = await attempt<T>(route, url, init, { signal, timeoutMs }, leave);
      if (!(outcome instanceof PetstoreError)) return outcome;
      isLost ||= !isRead && outcome instanceof ConnectionError;
      const waitMs = retryWaitMs(outcome, tries, { ...settings, maxRetries });
      if (waitMs === undefined) return doubtful(outcome);
      settings.logger.debug?.(
        `${route.what}: try ${tries} failed (${outcome.message}); the next is in ${Math.round(waitMs)} ms.`,
      );
      await settings.sleep(waitMs, signal ?? new AbortController().signal);
    }
  }

  /** One try: an answer, or an error that may be worth another; an abort's reason is thrown. */
  async function attempt<T>(
    route: Route,
    url: string,
    init: RequestInit,
    { signal, timeoutMs }: Pick<Settings, "timeoutMs"> & Pick<CallOptions, "signal">,
    leave: Leave,
  ): Promise<Answer<T> | PetstoreError> {
    if (signal?.aborted) {
      leave();
      throw signal.reason;
    }
    const ending = new AbortController();
    const leaveSignal = onAbort(signal, () => ending.abort(signal?.reason));
    const ended = new Promise<never>((_, reject) => {
      ending.signal.addEventListener("abort", () => reject(ending.signal.reason));
    });
    settings.sleep(timeoutMs, ending.signal).then(
      () => ending.abort(new TimeoutError(`${route.what} took longer than timeoutMs (${timeoutMs} ms).`)),
      () => {},
    );
    try {
      return await Promise.race([exchange<T>(route, url, { ...init, signal: ending.signal }, leave), ended]);
    } catch (error) {
      leave();
      if (signal?.aborted) throw signal.reason;
      const cause = ending.signal.aborted ? ending.signal.reason : error;
      if (cause instanceof PetstoreError) return cause;
      const why = (cause as Error)?.cause ?? cause;
      return new ConnectionError(`${route.what} got no whole answer (${why}).`, { cause });
    } finally {
      leaveSignal();
      ending.abort();
    }
  }

  async function exchange<T>(route: Route, url: string, init: RequestInit, leave: Leave): Promise<Answer<T>> {
    const { fetch } = settings;
    const response = await fetch(url, init);
    leave(response);
    const { status, headers } = response;
    if (headers.has("deprecation") && !noticed.has(route.id)) {
      noticed.add(route.id);
      settings.logger.warn(deprecationNotice(route, headers));
    }
    const text = await response.text();
    if (!response.ok) throw apiErrorOf(route.what, response, text);
    return {
      data: (status === 204 && route.method === "DELETE" ? undefined : dataIn(text, route)) as T,
      status,
      headers,
      requestId: headers.get("x-request-id") ?? undefined,
      etag: headers.get("etag") ?? undefined,
      rateLimit: rateLimitOf(headers),
    };
  }

  return send;
}

/** Refused for what was asked, by a server that has looked whether it was done already; not for who asks, or how often. */
function isJudged(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code === "idempotency_in_progress") return false;
  return error.status < 500 && ![401, 403, 408, 429].includes(error.status);
}

/** What is the same in every try of a call; a write's idempotency key above all. */
export function initOf(
  { what, method, takesInput }: Route,
  input: unknown,
  options: ChangeOptions,
  apiKey: string | undefined,
): RequestInit {
  const isWrite = method !== "GET";
  const hasBody = isWrite && takesInput;
  const headers = new Headers({ accept: "application/json", "api-version": "1" });
  if (apiKey) headers.set("authorization", `Bearer ${apiKey}`);
  if (isWrite) headers.set("idempotency-key", options.idempotencyKey ?? randomKey());
  if (options.ifMatch !== undefined) headers.set("if-match", options.ifMatch);
  if (hasBody) headers.set("content-type", "application/json");
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
  return { method, headers, redirect: "manual", ...(hasBody && { body: jsonOf(what, input ?? {}) }) };
}

/** 128 random bits; `randomUUID` is missing from pages that came over plain HTTP. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
