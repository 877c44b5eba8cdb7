import { causeOf } from "../core/failure.ts";
import type { Performed } from "../core/perform.ts";
import type { Callers } from "../http/caller.ts";
import type { Store } from "../http/operate.ts";
import type { EventStreams } from "../http/streams.ts";
import type { House } from "./house.ts";
import { isTold } from "./told.ts";

/** Those who follow events; what it takes is loaded for the first of them. */
export interface Followers {
  streams(): Promise<EventStreams>;
  /** A write is on its way: what it has to tell is told when it is done. */
  onWrite(written: Promise<Performed>): void;
  close(): void;
  figures(): ReturnType<EventStreams["figures"]>;
}

export function followers(
  { config, clock, log }: House,
  /** Asked for when the first of them comes. */
  served: () => { readonly store: Store; readonly callers: Callers },
): Followers {
  let streams: EventStreams | undefined;
  return {
    async streams() {
      const { eventStreams } = await import("../http/streams.ts");
      streams ??= eventStreams({
        ...served(),
        clock,
        maxStreams: config.maxStreams,
        maxStreamsPerClient: config.maxStreamsPerClient,
        onFault: (error) => {
          if (!isTold(error)) log.warn("Events could not be streamed.", { cause: causeOf(error) });
        },
      });
      return streams;
    },
    onWrite(written) {
      if (streams) written.then(streams.wake, () => {});
    },
    close: () => streams?.close(),
    figures: () => streams?.figures() ?? { open: 0, refused: 0, sent: 0 },
  };
}
