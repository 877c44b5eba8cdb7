import { hold } from "./notices.ts";
import { GivenUp } from "./words.ts";

/** A minute that is spent is waited for; a day is not. */
const LONGEST_WAIT_SECONDS = 60;
const LOOK_MS = 250;

/** How many requests wait, whoever sends them. */
let waiting = 0;

/** How often what waited to be sent was given up. */
let givenUp = 0;

/** Gives up the writes that wait for the next minute: nothing of them was sent. */
export function giveUpWrites(): void {
  givenUp += 1;
}

/** What sends a request; the signal ends it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Sends requests with the limits in mind. When those of the minute are spent, nothing is sent until the next one: it says so, waits and
 * goes on. When those of the day are spent, the refusal is repeated here: a key that goes on asking would be banned.
 */
export function patient(send: Fetch, isDaySpent: () => Promise<boolean>): Fetch {
  /** By `Date.now()`. */
  let minuteEndsAt = 0;
  let dayRefusal: (() => Response) | undefined;

  const untilMinuteEnds = async ({ signal, method = "GET" }: RequestInit) => {
    waiting += 1;
    const givenUpBefore = givenUp;
    try {
      while (Date.now() < minuteEndsAt) {
        signal?.throwIfAborted();
        if (method !== "GET" && givenUp > givenUpBefore) throw new GivenUp("It was not sent.");
        const seconds = Math.ceil((minuteEndsAt - Date.now()) / 1000);
        hold(`The requests of this minute are spent. Going on by itself in ${seconds} s.`);
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    } finally {
      waiting -= 1;
      // Whoever gave up waits no more either.
      if (waiting === 0) hold(undefined);
    }
  };

  return async (url, init) => {
    for (;;) {
      if (Date.now() < minuteEndsAt) await untilMinuteEnds(init);
      if (dayRefusal && (await isDaySpent())) return dayRefusal();
      dayRefusal = undefined;
      const response = await send(url, init);
      if (response.status !== 429) return response;
      const seconds = Number(response.headers.get("retry-after"));
      if (response.headers.get("x-should-retry") === "false") {
        const [text, { status, headers }] = [await response.text(), response];
        dayRefusal = () => new Response(text, { status, headers });
        return dayRefusal();
      }
      // A proxy's own refusal may not say when: then the client waits for longer and longer, and gives up.
      if (!(seconds > 0 && seconds <= LONGEST_WAIT_SECONDS)) return response;
      minuteEndsAt = Date.now() + seconds * 1000;
    }
  };
}
