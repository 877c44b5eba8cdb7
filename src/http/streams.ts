import type { Subscription } from "../contract/route.ts";
import { Failure } from "../core/failure.ts";
import type { Reads } from "../core/ports.ts";
import { some } from "../core/some.ts";
import type { Asked, Callers, KnownCaller } from "./caller.ts";
import { catchUp, type EventReader, read } from "./event-reader.ts";
import { type Follower, heartbeat, newFollower, say } from "./follower.ts";
import type { Stream } from "./wire/stream.ts";

/** How soon an event that another process wrote is seen; what this one wrote is seen at once. */
const POLL_MS = 250;
/** How often it is looked whether a follower's key may still ask. */
const CHECK_MS = 1000;
/** A follower hears something at least so often: proxies close what is silent for 15 seconds. */
export const HEARTBEAT_MS = 10_000;
/** How long a browser waits before it connects again. */
const RETRY_MS = 1000;
/** When one that was refused for the number of its streams may try again. */
const TRY_AGAIN_SECONDS = 5;

export interface StreamOptions {
  readonly store: Pick<Reads, "events" | "lastEvent" | "eventBounds">;
  readonly callers: Pick<Callers, "identify">;
  readonly clock: () => number;
  readonly maxStreams: number;
  readonly maxStreamsPerClient: number;
  readonly onFault: (error: unknown) => void;
  readonly heartbeatMs?: number;
}

/** The streams of a process; one reader of the log serves all of them. */
export interface EventStreams {
  /** Makes room for one more, or fails. */
  open(subscription: Subscription, request: Asked, caller: KnownCaller): Stream;
  /** This process has committed something. */
  wake(): void;
  /** Ends all of them, and takes no more. */
  close(): void;
  /** How many are open, and how many streams were refused and events sent so far. */
  figures(): { readonly open: number; readonly refused: number; readonly sent: number };
}

export function eventStreams(options: StreamOptions): EventStreams {
  const { store, onFault } = options;
  const followers = new Set<Follower>();
  const reader: EventReader = {
    store,
    followers,
    onFault,
    position: undefined,
    isReading: false,
    isDueAgain: false,
    sent: 0,
  };
  let refused = 0;
  let isClosed = false;
  let timers: Timer[] = [];

  const checkAll = () => {
    for (const follower of followers) check(follower, reader, options).catch(onFault);
  };
  const add = (follower: Follower) => {
    followers.add(follower);
    if (followers.size === 1) timers = [setInterval(read, POLL_MS, reader), setInterval(checkAll, CHECK_MS)];
  };
  const remove = (follower: Follower) => {
    follower.sink = null;
    if (!followers.delete(follower) || followers.size > 0) return;
    for (const timer of timers) clearInterval(timer);
    reader.position = undefined;
  };

  return {
    open(subscription, request, { clientId }) {
      if (isClosed) throw new Failure("overloaded", "This server is stopping. Connect again.");
      const tooMany = tooManyWith(followers, clientId, options);
      if (tooMany) {
        refused += 1;
        throw tooMany;
      }
      const follower = newFollower(subscription, request, clientId);
      add(follower);
      return {
        start(sink) {
          follower.sink = sink;
          say(follower, `retry: ${RETRY_MS}\nid: ${subscription.after}\n\n`);
          if (isClosed) sink.end();
          else void read(reader);
        },
        drained() {
          follower.hasRoom = true;
          if (!follower.isLive) void catchUp(reader, follower);
        },
        closed: () => remove(follower),
      };
    },
    wake() {
      if (followers.size > 0) void read(reader);
    },
    close() {
      isClosed = true;
      for (const { sink } of followers) sink?.end();
    },
    figures: () => ({ open: followers.size, refused, sent: reader.sent }),
  };
}

/** Whether it may still follow, and whether it must hear something. */
async function check(follower: Follower, reader: EventReader, options: StreamOptions): Promise<void> {
  const { callers, clock, heartbeatMs = HEARTBEAT_MS } = options;
  const found = await callers.identify(follower.request, clock());
  // Whose key cannot be looked up now goes on.
  const isRefused = found instanceof Failure ? found.code !== "unavailable" : isBanned(found, clock());
  if (isRefused) return follower.sink?.end();
  if (!follower.isLive) return void catchUp(reader, follower);
  if (performance.now() - follower.spokenAt >= heartbeatMs) say(follower, heartbeat(follower));
}

function isBanned({ bannedUntil }: KnownCaller, now: number): boolean {
  return bannedUntil !== null && bannedUntil > now;
}

/** Why there is no room for one more stream of a client. */
function tooManyWith(
  followers: ReadonlySet<Follower>,
  clientId: number,
  { maxStreams, maxStreamsPerClient }: StreamOptions,
): Failure | null {
  if (followers.size >= maxStreams) return tooManyInAll(maxStreams);
  const own = [...followers].filter((each) => each.clientId === clientId).length;
  return own >= maxStreamsPerClient ? tooManyOfOne(maxStreamsPerClient) : null;
}

function tooManyInAll(most: number): Failure {
  return new Failure(
    "overloaded",
    `This server has ${some(most, "stream")}, as many as it takes. Connect later.`,
  );
}

function tooManyOfOne(most: number): Failure {
  const message = `This client has ${some(most, "stream")} here, as many as it may have. End one first, or share one.`;
  return new Failure("too_many_streams", message, undefined, TRY_AGAIN_SECONDS);
}
