import type { Subscription } from "../contract/route.ts";
import type { Answer } from "./answer.ts";
import type { KnownCaller } from "./caller.ts";
import type { Handling } from "./exchange.ts";
import { lastEventId } from "./headers.ts";
import type { Call } from "./operate.ts";
import { linesOf } from "./wire/reply.ts";
import type { Stream } from "./wire/stream.ts";

/** Reads the parameters, asks where to begin, and answers with a stream. */
export async function follow(
  { store, rules, streams }: Handling,
  { request, params, endpoint, now }: Call,
  caller: KnownCaller,
): Promise<Answer> {
  const input = endpoint.input.parameters(params, request.search);
  const last = lastEventId(request.headers.get("last-event-id"));
  // A browser that connects again keeps its address and says in the header how far it came.
  if (last !== undefined) input.lastEventId = last;
  const { body } = await endpoint.operation({ caller, store, now, rules }, input);
  const stream =
    request.method === "HEAD" ? silent : (await streams()).open(body as Subscription, request, caller);
  return { status: endpoint.successStatus, body: null, headerLines: streamLines, stream };
}

/** Proxies that gather an answer before they pass it on are told not to. */
const streamLines = linesOf({ "content-type": "text/event-stream", "x-accel-buffering": "no" });

/** What would follow the head, to one who asks for the head alone. */
const silent: Stream = { start() {}, drained() {}, closed() {} };
