import type { Subscription } from "../contract/route.ts";
import { isFor, shownEvent } from "../core/events.ts";
import { Failure } from "../core/failure.ts";
import type { EventRecord, Reads } from "../core/ports.ts";
import { some } from "../core/some.ts";
import type { Asked, Callers, KnownCaller } from "./caller.ts";
import type { Sink, Stream } from "./wire/stream.ts";

/** How soon an event that another process wrote is seen; what this one wrote is seen at once ... */
const POLL_MS = 250;
/** ... but so many milliseconds after the look before, however much is written. */
const READ_GAP_MS = 20;
/** How often it is looked whether a follower's key may still ask. */
const CHECK_MS = 1000;
/** A follower hears something at least so often: proxies close what is silent for 15 seconds. */
export const HEARTBEAT_MS = 10_000;
const EVENTS_AT_ONCE = 500;
/** Of the log behind a follower that catches up. */
const BACKLOG_AT_ONCE = 100;
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
}

interface Follower {
  readonly subscription: Subscription;
  readonly request: Asked;
  readonly clientId: number;
  sink: Sink | null;
  /** The last event that it was sent, or that was not for it. */
  after: number;
  /** The last id that it was told. */
  told: number;
  /** By `performance.now()`. */
  spokenAt: number;
  /** It has all that the reader has; else it reads the log behind it by itself, as fast as it takes it. */
  isLive: boolean;
  isCatchingUp: boolean;
  hasRoom: boolean;
}

export function eventStreams(options: StreamOptions): EventStreams {
  const { store, callers, clock, maxStreams, maxStreamsPerClient, onFault } = options;
  const { heartbeatMs = HEARTBEAT_MS } = options;
  const followers = new Set<Follower>();
  /** How far the reader has come; unknown until it has looked. */
  let position: number | undefined;
  let isReading = false;
  let isDueAgain = false;
  let isClosed = false;
  let timers: Timer[] = [];

  const say = (follower: Follower, text: string) => {
    follower.spokenAt = performance.now();
    follower.hasRoom = follower.sink?.send(text) ?? false;
    if (!follower.hasRoom) follower.isLive = false;
  };
  const tell = (follower: Follower, events: readonly EventRecord[], upTo: number, frames: Frames) => {
    let text = "";
    for (const event of events)
      if (event.id > follower.after && isFor(follower.subscription, event)) text += frames(event);
    follower.after = Math.max(follower.after, upTo);
    if (text === "") return;
    follower.told = (events.at(-1) as EventRecord).id;
    say(follower, text);
  };
  const catchUp = async (follower: Follower) => {
    if (follower.isCatchingUp) return;
    follower.isCatchingUp = true;
    try {
      while (follower.hasRoom && position !== undefined && followers.has(follower)) {
        if (follower.after >= position) {
          follower.isLive = true;
          return;
        }
        await readBacklog(follower, position);
      }
    } catch (error) {
      // It is tried again when keys are looked at.
      onFault(error);
    } finally {
      follower.isCatchingUp = false;
    }
  };
  const readBacklog = async (follower: Follower, upTo: number) => {
    const { subscription, after } = follower;
    const events = await store.events({ ...subscription, after, upTo, limit: BACKLOG_AT_ONCE });
    // What was dropped from the log before it came: it is told so when it connects again.
    if ((await store.eventBounds()).forgotten > after) return follower.sink?.end();
    const isAll = events.length < BACKLOG_AT_ONCE;
    tell(follower, events, isAll ? upTo : (events.at(-1) as EventRecord).id, newFrames());
  };
  const readOn = async () => {
    const upTo = await store.lastEvent();
    position ??= upTo;
    while (position < upTo && followers.size > 0) {
      const events: EventRecord[] = await store.events({ after: position, upTo, limit: EVENTS_AT_ONCE });
      const last = events.length < EVENTS_AT_ONCE ? upTo : (events.at(-1) as EventRecord).id;
      const frames = newFrames();
      for (const follower of followers) if (follower.isLive) tell(follower, events, last, frames);
      position = last;
    }
    for (const follower of followers) if (!follower.isLive) void catchUp(follower);
  };
  const read = async () => {
    isDueAgain = true;
    if (isReading) return;
    isReading = true;
    try {
      while (isDueAgain && followers.size > 0) {
        isDueAgain = false;
        await readOn();
        if (isDueAgain) await Bun.sleep(READ_GAP_MS);
      }
    } catch (error) {
      onFault(error);
    } finally {
      isReading = false;
    }
  };
  const check = async (follower: Follower) => {
    const found = await callers.identify(follower.request, clock());
    // Whose key cannot be looked up now goes on.
    const isRefused = found instanceof Failure ? found.code !== "unavailable" : isBanned(found, clock());
    if (isRefused) return follower.sink?.end();
    if (!follower.isLive) return void catchUp(follower);
    if (performance.now() - follower.spokenAt >= heartbeatMs) say(follower, heartbeat(follower));
  };
  const checkAll = () => {
    for (const follower of followers) check(follower).catch(onFault);
  };
  const begin = () => {
    timers = [setInterval(read, POLL_MS), setInterval(checkAll, CHECK_MS)];
  };
  const remove = (follower: Follower) => {
    follower.sink = null;
    if (!followers.delete(follower) || followers.size > 0) return;
    for (const timer of timers) clearInterval(timer);
    position = undefined;
  };

  return {
    open(subscription, request, { clientId }) {
      if (isClosed) throw new Failure("overloaded", "This server is stopping. Connect again.");
      if (followers.size >= maxStreams) throw tooManyInAll(maxStreams);
      const own = [...followers].filter((each) => each.clientId === clientId).length;
      if (own >= maxStreamsPerClient) throw tooMany(maxStreamsPerClient);
      const { after } = subscription;
      const follower: Follower = {
        subscription,
        request,
        clientId,
        sink: null,
        after,
        told: after,
        spokenAt: 0,
        isLive: false,
        isCatchingUp: false,
        hasRoom: false,
      };
      followers.add(follower);
      if (followers.size === 1) begin();
      return {
        start(sink) {
          follower.sink = sink;
          say(follower, `retry: ${RETRY_MS}\nid: ${after}\n\n`);
          if (isClosed) sink.end();
          else void read();
        },
        drained() {
          follower.hasRoom = true;
          if (!follower.isLive) void catchUp(follower);
        },
        closed: () => remove(follower),
      };
    },
    wake() {
      if (followers.size > 0) void read();
    },
    close() {
      isClosed = true;
      for (const { sink } of followers) sink?.end();
    },
  };
}

type Frames = (event: EventRecord) => string;

/** Events as they are sent, each written out once, however many follow. */
function newFrames(): Frames {
  const written = new Map<number, string>();
  return (event) => {
    const { id, type } = event;
    const known = written.get(id);
    if (known !== undefined) return known;
    const frame = `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(shownEvent(event))}\n\n`;
    written.set(id, frame);
    return frame;
  };
}

/** A comment, and how far the follower is: whoever waits for a rare event goes on from there, and not from the last one. */
function heartbeat(follower: Follower): string {
  if (follower.told === follower.after) return ":\n\n";
  follower.told = follower.after;
  return `:\nid: ${follower.after}\n\n`;
}

function isBanned({ bannedUntil }: KnownCaller, now: number): boolean {
  return bannedUntil !== null && bannedUntil > now;
}

function tooManyInAll(most: number): Failure {
  return new Failure(
    "overloaded",
    `This server has ${some(most, "stream")}, as many as it takes. Connect later.`,
  );
}

function tooMany(most: number): Failure {
  const message = `This client has ${some(most, "stream")} here, as many as it may have. End one first, or share one.`;
  return new Failure("too_many_streams", message, undefined, TRY_AGAIN_SECONDS);
}
