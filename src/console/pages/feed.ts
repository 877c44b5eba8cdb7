import type { StoreEvent } from "../../../client/src/index.ts";
import { type Child, fill, h } from "../dom.ts";
import { knowsPet, learnPets, notePet, petName } from "../names.ts";
import { time } from "../words.ts";
import { petIn, wordsOf } from "./event-words.ts";

/** Older ones leave the page; the API has them. */
const SHOWN = 200;
/** Names that are not known are asked for together, and so seldom: each time is one of the client's requests. */
const GATHER_MS = 1000;
const SELDOM_MS = 60_000;

/** Events, newest first, and what is said where there are none. */
export function feedOf(signal: AbortSignal) {
  const lines = h("ol", { class: "feed", "aria-label": "Events, newest first" });
  const foot = h("div", { class: "foot" });
  const name = naming(lines, signal);
  let last: string | undefined;
  return {
    element: h("div", { class: "listing" }, lines, foot),
    /** The id of the newest; nothing before the first. */
    get last() {
      return last;
    },
    /** Shows an event that is newer than all that are shown. */
    add(event: StoreEvent) {
      if (last !== undefined && Number(event.id) <= Number(last)) return;
      last = event.id;
      const { id, name: told } = petIn(event);
      if (id !== undefined && told !== undefined) notePet(id, told);
      const when = h("span", { class: "soft" }, time(event.time));
      lines.prepend(h("li", {}, h("span", {}, wordsOf(event)), when));
      while (lines.childElementCount > SHOWN) lines.lastElementChild?.remove();
      fill(foot);
      name();
    },
    say: (text: Child) => fill(foot, text),
    clear() {
      last = undefined;
      fill(lines);
    },
  };
}

/** Names the pets of lines that have only their numbers: at once where another event told of it, else when it was asked for. */
function naming(lines: Element, signal: AbortSignal): () => void {
  /** One that was asked for in vain is gone. */
  const asked = new Set<number>();
  let timer = 0;
  let isAsking = false;
  signal.addEventListener("abort", () => clearTimeout(timer));

  /** Fills in what is known; gives what is not. */
  const fillIn = (): number[] => {
    const unknown: number[] = [];
    for (const link of lines.querySelectorAll<HTMLElement>("[data-unnamed]")) {
      const id = Number(link.dataset.unnamed);
      if (!knowsPet(id)) unknown.push(id);
      else {
        link.textContent = petName(id);
        link.removeAttribute("data-unnamed");
      }
    }
    return unknown.filter((id) => !asked.has(id));
  };
  const ask = async () => {
    const unknown = fillIn();
    try {
      for (const id of unknown) asked.add(id);
      await learnPets(unknown, signal);
    } catch {
      // Numbers do as well.
    }
    timer = window.setTimeout(() => {
      isAsking = false;
      name();
    }, SELDOM_MS);
    fillIn();
  };
  const name = () => {
    if (fillIn().length === 0 || isAsking || signal.aborted) return;
    isAsking = true;
    timer = window.setTimeout(ask, GATHER_MS);
  };
  return name;
}
