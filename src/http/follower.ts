import type { Subscription } from "../contract/route.ts";
import { isFor, shownEvent } from "../core/events.ts";
import type { EventRecord } from "../core/ports.ts";
import type { Asked } from "./caller.ts";
import type { Sink } from "./wire/stream.ts";

/** One who follows the events. */
export interface Follower {
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

export function newFollower(subscription: Subscription, request: Asked, clientId: number): Follower {
  const { after } = subscription;
  return {
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
}

export function say(follower: Follower, text: string): void {
  follower.spokenAt = performance.now();
  follower.hasRoom = follower.sink?.send(text) ?? false;
  if (!follower.hasRoom) follower.isLive = false;
}

/** Sends what is for it of these events, which are all there are up to that one; says how many that were. */
export function tell(
  follower: Follower,
  events: readonly EventRecord[],
  upTo: number,
  frames: Frames = newFrames(),
): number {
  let text = "";
  let count = 0;
  for (const event of events) {
    if (event.id <= follower.after || !isFor(follower.subscription, event)) continue;
    text += frames(event);
    count += 1;
    follower.told = event.id;
  }
  follower.after = Math.max(follower.after, upTo);
  if (count === 0) return 0;
  say(follower, text);
  return count;
}

/** A comment, and how far the follower is: whoever waits for a rare event goes on from there, and not from the last one. */
export function heartbeat(follower: Follower): string {
  if (follower.told === follower.after) return ":\n\n";
  follower.told = follower.after;
  return `:\nid: ${follower.after}\n\n`;
}

export type Frames = (event: EventRecord) => string;

/** Events as they are sent, each written out once, however many follow. */
export function newFrames(): Frames {
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
