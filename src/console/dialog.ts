import { type Child, h, newId } from "./dom.ts";

export interface Dialog {
  readonly element: HTMLDialogElement;
  close(): void;
  /** Done when it is closed, however that came about. */
  readonly closed: Promise<void>;
}

/**
 * Opens a dialog over the page. The browser keeps the focus inside and gives it back when the dialog closes. It closes when another page
 * is opened, unless it stays: what it holds would be lost.
 */
export function openDialog(
  title: string,
  content: (close: () => void) => Child,
  { stays = false }: { readonly stays?: boolean } = {},
): Dialog {
  const opener = document.activeElement;
  const titleId = newId();
  const close = () => element.close();
  const element = h("dialog", { "aria-labelledby": titleId });
  const head = h(
    "header",
    {},
    h("h2", { id: titleId }, title),
    h("button", { type: "button", class: "quiet close", "aria-label": "Close", onclick: close }, "×"),
  );
  element.append(head, h("div", { class: "dialog-body" }, content(close)));
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let isLeft = false;
  const leave = () => {
    isLeft = true;
    close();
  };
  if (!stays) window.addEventListener("hashchange", leave);
  element.addEventListener("close", () => {
    window.removeEventListener("hashchange", leave);
    element.remove();
    // What opened it may be gone for good, with what was done: then the page is read from its heading.
    if (!isLeft && !returnFocus(opener)) heading()?.focus({ preventScroll: true });
    resolve();
  });
  document.body.append(element);
  element.showModal();
  element.querySelector<HTMLElement>("[autofocus], input, select, textarea")?.focus();
  return { element, close, closed };
}

interface Question {
  readonly title: string;
  readonly text: Child;
  /** What the button says that does it. */
  readonly verb: string;
}

/** Asks before something that cannot be undone. */
export async function agreed({ title, text, verb }: Question): Promise<boolean> {
  let isAgreed = false;
  const { closed } = openDialog(title, (close) => [
    h("p", {}, text),
    h(
      "div",
      { class: "actions" },
      h("button", { type: "button", autofocus: true, onclick: close }, "Keep it as it is"),
      h(
        "button",
        {
          type: "button",
          class: "danger",
          onclick: () => {
            isAgreed = true;
            close();
          },
        },
        verb,
      ),
    ),
  ]);
  await closed;
  return isAgreed;
}

/** Draws a part of the page anew; whoever has the focus there keeps it, or stays with that part. */
export function keepingFocus(part: HTMLElement, draw: () => void): void {
  const focused = document.activeElement;
  const isInside = part.contains(focused);
  draw();
  if (!isInside || part.contains(document.activeElement)) return;
  part.tabIndex = -1;
  part.focus({ preventScroll: true });
  returnFocus(focused);
}

/** The button that opened a dialog may have been drawn anew meanwhile; it is known by its key. The page stays where it is. */
function returnFocus(to: Element | null): boolean {
  if (!(to instanceof HTMLElement)) return false;
  const again = to.isConnected ? to : keyed(to.dataset.key);
  again?.focus({ preventScroll: true });
  return again !== null;
}

function heading(): HTMLElement | null {
  return document.querySelector<HTMLElement>("main h1");
}

function keyed(key: string | undefined): HTMLElement | null {
  return key === undefined ? null : document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
}
