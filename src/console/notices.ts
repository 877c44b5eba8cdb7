import { fill, h } from "./dom.ts";

const SHOWN_MS = 6000;

/** Tells what happened, at the edge of the page; read aloud, and gone after a while. */
const told = h("div", { class: "notices", role: "status", "aria-live": "polite" });
const held = h("div", { class: "holding", role: "status", "aria-live": "polite" });
let waitsUntil = 0;

/** Where notices appear; in a dialog that covers the page they would not be seen, so they go on top of all. */
export function noticePlaces(): readonly HTMLElement[] {
  return [held, told];
}

/** Says that something was done. */
export function tell(text: string): void {
  const notice = h("p", { class: "notice" }, text);
  told.append(notice);
  setTimeout(() => notice.remove(), SHOWN_MS);
}

/** Waits, and shows for how long: the requests of the minute are spent. */
export async function waiting(seconds: number, signal?: AbortSignal): Promise<void> {
  const until = Date.now() + seconds * 1000;
  waitsUntil = Math.max(waitsUntil, until);
  while (Date.now() < until) {
    signal?.throwIfAborted();
    const left = Math.ceil((waitsUntil - Date.now()) / 1000);
    fill(held, h("p", {}, `The requests of this minute are spent. Going on by itself in ${left} s.`));
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  if (Date.now() >= waitsUntil) fill(held);
}
