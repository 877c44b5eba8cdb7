import { fill, h } from "./dom.ts";

const SHOWN_MS = 6000;

/** What happened, and what is waited for: above everything else, dialogs too, and read aloud. */
const told = h("div", { class: "notices", role: "status", popover: "manual" });
const held = h("div", { class: "holding", role: "status", popover: "manual" });

/** They are a part of every screen. */
export function noticePlaces(): readonly HTMLElement[] {
  return [held, told];
}

/** Says that something was done. */
export function tell(text: string): void {
  const notice = h("p", { class: "notice" }, text);
  told.append(notice);
  raise(told);
  setTimeout(() => {
    notice.remove();
    if (told.childElementCount === 0) told.hidePopover();
  }, SHOWN_MS);
}

/** Says what is waited for, or that nothing is any more. */
export function hold(text: string | undefined): void {
  const isShown = held.childElementCount > 0;
  fill(held, text !== undefined && h("p", {}, text));
  if (text === undefined) held.hidePopover();
  else if (!isShown) raise(held);
}

/** Above what was opened last. */
function raise(place: HTMLElement): void {
  if (!place.isConnected) return;
  place.hidePopover();
  place.showPopover();
}
