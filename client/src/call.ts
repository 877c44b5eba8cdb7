import type { RateLimit } from "./rates.ts";

/** An answer with what came beside the data. */
export interface Answer<T> {
  readonly data: T;
  /** The HTTP status. */
  readonly status: number;
  readonly headers: Headers;
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** The record's version, for `ifMatch`. */
  readonly etag: string | undefined;
  /** How the rate limit stood when the answer was given. */
  readonly rateLimit: RateLimit | undefined;
}

/** A call under way: await it for the data, or `.withResponse()` for the whole answer. */
export interface Call<T> extends Promise<T> {
  /** The data together with status, headers, request id, ETag and rate limit. */
  withResponse(): Promise<Answer<T>>;
}

/** A list: await it for the first page, or go over every record of all pages with `for await`. */
export interface ListCall<T> extends Call<Page<T>>, AsyncIterable<T> {}

/** One page of a list: an array of its records, and the way to the next. */
export interface Page<T> extends ReadonlyArray<T> {
  /** Whether another page follows. */
  readonly hasNext: boolean;
  /** The next page; `undefined` after the last. */
  next(): Promise<Page<T> | undefined>;
}

/**
 * Events as they happen, for `for await`. It connects again by itself, after the last event, with back-off; it throws where
 * that cannot help, and ends when its signal aborts or the loop is left.
 */
export interface EventStream<T> extends AsyncIterable<T> {
  /** Where the next connection goes on: behind the last event that was given. */
  readonly lastEventId: string | undefined;
}

/** @internal */
export function callOf<T>(answer: Promise<Answer<T>>): Call<T> {
  const data = answer.then((whole) => whole.data);
  return Object.assign(data, {
    withResponse() {
      // Whoever takes the whole answer is told of its failure there, and not a second time here.
      data.catch(() => {});
      return answer;
    },
  });
}

/** A list whose pages are fetched by their cursors. @internal */
export function listOf<T>(
  fetchPage: (cursor?: string) => Promise<Answer<T[]>>,
  signal: AbortSignal | undefined,
  cursor?: string,
): ListCall<T> {
  const answer = fetchPage(cursor).then((whole) => {
    const next = nextCursorOf(whole.headers);
    const page = Object.defineProperties(whole.data, {
      hasNext: { value: next !== undefined },
      next: { value: async () => (next === undefined ? undefined : listOf(fetchPage, signal, next)) },
    });
    return { ...whole, data: page as unknown as Page<T> };
  });
  const first = callOf(answer);
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      for (let page: Page<T> | undefined = await first; page; page = await page.next())
        for (const record of page) {
          signal?.throwIfAborted();
          yield record;
        }
    },
  });
}

/** From the `Link` header; only the cursor is taken of it, so that a prefix before the path does not matter. */
function nextCursorOf(headers: Headers): string | undefined {
  const link = /<([^>]*)>\s*;\s*rel="?next"?/.exec(headers.get("link") ?? "")?.[1];
  return link === undefined ? undefined : (new URL(link, "http://x").searchParams.get("cursor") ?? undefined);
}
