import { fill, h } from "./dom.ts";

const SHOWN_MS = 6000;
/** A dialog that is open keeps everything else from being heard; by then it is closed. */
const SPOKEN_AFTER_MS = 200;

/** What happened, and what is waited for: above everything else, dialogs too. */
const told = h("div", { class: "notices", popover: "manual" });
const held = h("div", { class: "holding", popover: "manual" });
/** The same for those who hear the page: what appears somewhere is not read aloud, what changes in its place is. */
const spoken = h("p", { class: "heard", role: "status" });

/** They are a part of every screen, and there before the first: what it asks for may have to wait. */
export function noticePlaces(): readonly HTMLElement[] {
  return [held, told, spoken];
}

/** Says that something was done. */
export function tell(text: string): void {
  const notice = h("p", { class: "notice" }, text);
  told.append(notice);
  raise(told);
  speak(text);
  setTimeout(() => {
    notice.remove();
    if (told.childElementCount === 0) told.hidePopover();
  }, SHOWN_MS);
}

/** Says what is waited for, or that nothing is any more. */
export function hold(text: string | undefined): void {
  // Another screen takes it out of sight for a moment, whatever it holds.
  const isShown = held.matches(":popover-open");
  fill(held, text !== undefined && h("p", {}, text));
  if (text === undefined) held.hidePopover();
  else if (!isShown) {
    raise(held);
    speak(text);
  }
}

function speak(text: string): void {
  setTimeout(() => fill(spoken, text), SPOKEN_AFTER_MS);
}

/** Above what was opened last. */
function raise(place: HTMLElement): void {
  place.hidePopover();
  place.showPopover();
}
