import { onAbort } from "./abort.ts";
import type { EventStream } from "./call.ts";
import { apiErrorOf, ConnectionError, PetstoreError, TimeoutError, UnreadableAnswerError } from "./errors.ts";
import { framesOf } from "./frames.ts";
import { dataIn, queryOf } from "./json.ts";
import { limitsOf, type Settings, type StreamOptions } from "./options.ts";
import type { Pace } from "./pace.ts";
import { initOf, limitsQuestion, type Request, type Send } from "./request.ts";
import { retryWaitMs } from "./retry.ts";
import { pathOf } from "./route.ts";
import { turns } from "./turn.ts";

export type Follow = <T>(request: Request) => EventStream<T>;

/** The server says something every ten seconds: one that is silent for so long is gone. */
const SILENT_MS = 45_000;
/** A connection that lasted so long was a good one: the next back-off is short again. */
const GOOD_MS = 10_000;

export function follower(settings: Settings, pace: Pace, send: Send): Follow {
  const turn = turns(pace, (options) => send({ ...limitsQuestion, options }));

  return <T>({ route, ids, input, options }: Request): EventStream<T> => {
    const { lastEventId: first, ...query } = (input ?? {}) as { lastEventId?: string };
    const url = settings.baseUrl + pathOf(route, ids) + queryOf(route.what, query);
    const { maxRetries, timeoutMs } = limitsOf(options, {
      ...settings,
      maxRetries: Number.POSITIVE_INFINITY,
    });
    const { signal, onConnection } = options as StreamOptions;
    let last = first;

    /** What comes in time, and before the end: not every `fetch` listens to its signal. */
    const within = async <R>(work: Promise<R>, ms: number, ending: AbortSignal): Promise<R> => {
      const waiting = new AbortController();
      const stop = () => waiting.abort(ending.reason);
      const leaveSignal = onAbort(ending, stop);
      if (ending.aborted) stop();
      const late = settings.sleep(ms, waiting.signal).then(() => {
        throw new TimeoutError(`${route.what} was silent for ${ms} ms.`);
      });
      try {
        return await Promise.race([work, late]);
      } catch (cause) {
        if (cause instanceof PetstoreError) throw cause;
        const why = (cause as Error)?.cause ?? cause;
        throw new ConnectionError(`${route.what} was cut off (${why}).`, { cause });
      } finally {
        leaveSignal();
        waiting.abort();
      }
    };

    /** A connection, once the answer is known to be a stream; the signal ends it too. */
    async function connected(ending: AbortSignal, isRetry: boolean): Promise<ReadableStream<Uint8Array>> {
      const headers = { ...options.headers, accept: "text/event-stream" };
      const init = initOf(route, undefined, { headers }, settings.apiKey);
      if (last !== undefined) (init.headers as Headers).set("last-event-id", last);
      const leave = await turn(route, signal, isRetry);
      const { fetch } = settings;
      // A `fetch` of the caller's own may throw at once, and not reject.
      const ask = async () => fetch(url, { ...init, signal: ending });
      const response = await within(ask(), timeoutMs, ending).catch((error) => {
        leave();
        throw error;
      });
      leave(response);
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
      if (response.ok && isStream && response.body) return response.body;
      const text = await within(response.text(), timeoutMs, ending);
      if (!response.ok) throw apiErrorOf(route.what, response, text);
      throw new UnreadableAnswerError(`${route.what} was answered with something other than a stream.`);
    }

    async function* chunksOf(
      body: ReadableStream<Uint8Array>,
      ending: AbortSignal,
    ): AsyncGenerator<Uint8Array> {
      const reader = body.getReader();
      for (;;) {
        const { value, done } = await within(reader.read(), SILENT_MS, ending);
        if (done) return;
        yield value;
      }
    }

    async function* connections(): AsyncGenerator<T> {
      for (let tries = 1; !signal?.aborted; tries += 1) {
        const ending = new AbortController();
        const leaveSignal = onAbort(signal, () => ending.abort(signal?.reason));
        // An attempt that comes to no stream lasts for no time, however long it is waited for.
        let since = Number.POSITIVE_INFINITY;
        let isTold = true;
        let error: PetstoreError;
        try {
          const body = await connected(ending.signal, tries > 1);
          since = settings.now();
          isTold = false;
          onConnection?.(true);
          isTold = true;
          for await (const { id, data } of framesOf(chunksOf(body, ending.signal))) {
            // Several events may have come at once.
            if (signal?.aborted) return;
            const event = data === undefined ? undefined : dataIn<T>(data, route);
            last = id ?? last;
            if (event !== undefined) yield event;
          }
          error = new ConnectionError(`${route.what} was ended by the server.`);
        } catch (thrown) {
          if (signal?.aborted) return;
          // The caller's own, who was told of the connection, or a header that is none: no reason to try again.
          if (!isTold || !(thrown instanceof PetstoreError)) throw thrown;
          error = thrown;
        } finally {
          leaveSignal();
          ending.abort();
        }
        if (settings.now() - since >= GOOD_MS) tries = 1;
        const waitMs = retryWaitMs(error, tries, { ...settings, maxRetries });
        if (waitMs === undefined) throw error;
        onConnection?.(false);
        settings.logger.debug?.(`${error.message} It is tried again in ${Math.round(waitMs)} ms.`);
        await settings.sleep(waitMs, signal ?? new AbortController().signal).catch(() => {});
      }
    }

    return {
      get lastEventId() {
        return last;
      },
      [Symbol.asyncIterator]: connections,
    };
  };
}
