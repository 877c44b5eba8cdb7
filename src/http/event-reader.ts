import type { EventRecord, Reads } from "../core/ports.ts";
import { type Follower, newFrames, tell } from "./follower.ts";

/** How long after a look at the log the next one comes at the earliest, however much is written. */
const READ_GAP_MS = 20;
const EVENTS_AT_ONCE = 500;
/** Of the log behind a follower that catches up. */
const BACKLOG_AT_ONCE = 100;

/** Reads the log once for all who follow it, and once more for each that is behind. */
export interface EventReader {
  readonly store: Pick<Reads, "events" | "lastEvent" | "eventBounds">;
  readonly followers: Set<Follower>;
  readonly onFault: (error: unknown) => void;
  /** How far it has come; unknown until it has looked. */
  position: number | undefined;
  isReading: boolean;
  isDueAgain: boolean;
  /** Events that it has sent to anybody so far. */
  sent: number;
}

/** Reads what is new; who calls while it reads has it read once more. */
export async function read(reader: EventReader): Promise<void> {
  reader.isDueAgain = true;
  if (reader.isReading) return;
  reader.isReading = true;
  try {
    while (reader.isDueAgain && reader.followers.size > 0) {
      reader.isDueAgain = false;
      await readOn(reader);
      if (reader.isDueAgain) await Bun.sleep(READ_GAP_MS);
    }
  } catch (error) {
    reader.onFault(error);
  } finally {
    reader.isReading = false;
  }
}

/** Reads the log behind a follower up to where the reader is. */
export async function catchUp(reader: EventReader, follower: Follower): Promise<void> {
  if (follower.isCatchingUp) return;
  follower.isCatchingUp = true;
  try {
    while (follower.hasRoom && reader.position !== undefined && reader.followers.has(follower)) {
      if (follower.after >= reader.position) {
        follower.isLive = true;
        return;
      }
      await readBacklog(reader, follower, reader.position);
    }
  } catch (error) {
    // It is tried again when keys are looked at.
    reader.onFault(error);
  } finally {
    follower.isCatchingUp = false;
  }
}

async function readOn(reader: EventReader): Promise<void> {
  const { store, followers } = reader;
  const upTo = await store.lastEvent();
  let position = reader.position ?? upTo;
  reader.position = position;
  while (position < upTo && followers.size > 0) {
    const events = await store.events({ after: position, upTo, limit: EVENTS_AT_ONCE });
    position = events.length < EVENTS_AT_ONCE ? upTo : (events.at(-1) as EventRecord).id;
    const frames = newFrames();
    for (const follower of followers)
      if (follower.isLive) reader.sent += tell(follower, events, position, frames);
    reader.position = position;
  }
  for (const follower of followers) if (!follower.isLive) void catchUp(reader, follower);
}

async function readBacklog(reader: EventReader, follower: Follower, upTo: number): Promise<void> {
  const { store } = reader;
  const { subscription, after } = follower;
  const events = await store.events({ ...subscription, after, upTo, limit: BACKLOG_AT_ONCE });
  // What was dropped from the log before it came: it is told so when it connects again.
  if ((await store.eventBounds()).forgotten > after) return follower.sink?.end();
  const isAll = events.length < BACKLOG_AT_ONCE;
  reader.sent += tell(follower, events, isAll ? upTo : (events.at(-1) as EventRecord).id);
}
