import type { Connection } from "./connection.ts";

/** Who is connected. */
export interface Connections extends Iterable<Connection> {
  readonly size: number;
  /** Those that were ever closed as they came, or for one that came. */
  readonly turnedAway: number;
  /** Whether one more may stay; another may have to leave for it. */
  makeRoom(): boolean;
  add(connection: Connection): void;
  /** Whether it was one of them. */
  remove(connection: Connection): boolean;
  /** Lets all go, each when nothing is under way for it or at once, and is done when the last is gone. */
  end(isCut: boolean): Promise<void>;
}

/** So many at the most; `isExchanged` says whether one that only waits is closed for one that comes. */
export function connectionsUpTo(most: number, isExchanged: boolean): Connections {
  const connected = new Set<Connection>();
  let gone: PromiseWithResolvers<void> | undefined;
  let turnedAway = 0;
  return {
    [Symbol.iterator]: () => connected.values(),
    get size() {
      return connected.size;
    },
    get turnedAway() {
      return turnedAway;
    },
    makeRoom() {
      if (connected.size < most) return true;
      turnedAway += 1;
      const other = isExchanged ? nearestToItsEnd(connected) : undefined;
      other?.terminate();
      return other !== undefined;
    },
    add: (connection) => void connected.add(connection),
    remove(connection) {
      const wasOne = connected.delete(connection);
      if (connected.size === 0) gone?.resolve();
      return wasOne;
    },
    async end(isCut) {
      for (const connection of [...connected]) isCut ? connection.terminate() : connection.release();
      if (connected.size === 0) return;
      gone ??= Promise.withResolvers();
      await gone.promise;
    },
  };
}

/** Of those that only wait, for a request or for what they sent to be taken, the one that would end first. */
function nearestToItsEnd(connections: Iterable<Connection>): Connection | undefined {
  let nearest: Connection | undefined;
  for (const each of connections)
    if (each.isWaiting && each.endsAt < (nearest?.endsAt ?? Number.POSITIVE_INFINITY)) nearest = each;
  return nearest;
}
