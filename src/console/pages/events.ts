import type { EventType } from "../../../client/src/index.ts";
import { petstore } from "../api.ts";
import { type Child, fill, h } from "../dom.ts";
import { filters } from "../filters.ts";
import { failed } from "../list.ts";
import { learnPets } from "../names.ts";
import { heading, type Page, type Visit } from "../visit.ts";
import { badge, isAbort } from "../words.ts";
import { kinds } from "./event-kinds.ts";
import { petIn } from "./event-words.ts";
import { feedOf } from "./feed.ts";

/** What happened a while ago is shown first, so that the page is not empty. */
const WHILE_MS = 15 * 60 * 1000;
const AT_ONCE = 100;

export const eventsPage: Page = { title: "Live feed", show };

function show({ query, signal }: Visit): Child {
  const feed = feedOf(signal);
  const state = h("p", { class: "soft", role: "status" });
  const kind = () => {
    const chosen = narrowing.value("kind");
    // One that there is not is for the API to refuse.
    return chosen === undefined ? undefined : (kinds.get(chosen) ?? [chosen as EventType]);
  };
  let following = new AbortController();
  /** How far it was followed when it was paused, though nothing was shown. */
  let position: string | undefined;
  /** What came before the connection was there, where nothing was shown to go on from. */
  let between: Promise<void> | undefined;

  /** Goes on behind the last event that is shown; the client connects again by itself. */
  const follow = async () => {
    following = new AbortController();
    const { signal: ended } = following;
    fill(state, badge("connecting", "calm"));
    pause.textContent = "Pause";
    try {
      if (position === undefined) await recall(ended);
      const from = { type: kind(), lastEventId: position ?? feed.last };
      const stream = petstore.events.stream(from, { signal: ended, onConnection });
      ended.addEventListener("abort", () => {
        position = stream.lastEventId;
      });
      for await (const event of stream) {
        await between;
        feed.add(event);
      }
    } catch (error) {
      if (isAbort(error) || ended.aborted) return;
      fill(state, badge("not connected", "bad"));
      feed.say(failed(error, restart));
    }
  };
  const onConnection = (isConnected: boolean) => {
    if (!isConnected)
      return fill(state, badge("not connected", "bad"), " Trying again; nothing will be missed.");
    fill(state, badge("live", "good"), " New events appear at the top.");
    if (feed.last === undefined && position === undefined) between = recall(following.signal).catch(() => {});
  };
  /** What happened in the last minutes, as far as one page of it goes; the stream brings the rest. */
  const recall = async (ended: AbortSignal) => {
    const since = new Date(Date.now() - WHILE_MS).toISOString();
    const recent = await petstore.events.list({ type: kind(), since, limit: AT_ONCE }, { signal: ended });
    // Once for all of them: a request for each new event would use the quota up.
    await learnPets(
      recent.map((event) => petIn(event).id),
      ended,
    );
    for (const event of recent) feed.add(event);
    if (recent.length === 0)
      feed.say(h("p", { class: "empty" }, "Nothing happened lately. Sell a pet, and you will see it here."));
  };
  const restart = () => {
    following.abort();
    position = undefined;
    feed.clear();
    return follow();
  };
  const toggle = () => {
    if (following.signal.aborted) return void follow();
    following.abort();
    fill(state, badge("paused", "wait"), " Going on shows what was missed.");
    pause.textContent = "Go on";
  };

  const choices = ["", ...kinds.keys()].map((each) => [each, each || "everything"] as const);
  const narrowing = filters("events", query, [{ name: "kind", label: "Show", choices }], restart);
  const pause = h("button", { type: "button", onclick: toggle }, "Pause");
  signal.addEventListener("abort", () => following.abort());
  void follow();
  return [heading("Live feed", pause), narrowing.element, state, feed.element];
}
