import type { Page } from "../../client/src/index.ts";
import { keepingFocus } from "./dialog.ts";
import { type Child, fill, h } from "./dom.ts";
import { type RowsOptions, rowsOf } from "./rows.ts";
import { canTryAgain, explained, isAbort } from "./words.ts";

export interface ListOptions<T> extends RowsOptions<T> {
  /** The first page; the next ones come from it. */
  readonly load: (signal: AbortSignal) => PromiseLike<Page<T>>;
  /** What must be known before records are shown, such as names. */
  readonly prepare?: (records: readonly T[], signal: AbortSignal) => Promise<unknown>;
  /** What is said where there is nothing; it says what to do. */
  readonly empty: () => Child;
}

export interface List<T> {
  readonly element: HTMLElement;
  /** Asks for the first page anew. */
  reload(): Promise<void>;
  /** Shows a record that was changed in its place, or a new one first. */
  put(record: T): void;
  drop(record: T): void;
}

/** A list that is shown a page at a time, never whole: the store may have a million of it. */
export function list<T>(options: ListOptions<T>): List<T> {
  const { load, prepare, empty } = options;
  const rows = rowsOf(options);
  const foot = h("div", { class: "foot", "aria-live": "polite" });
  const element = h("div", { class: "listing" }, rows.element, foot);
  const fit = fitting(element, rows.element);
  // The foot is as wide as the list, and no higher or lower for what is shown above it.
  new ResizeObserver(fit).observe(foot);
  let running = new AbortController();

  const settle = (rest: Child) => {
    rows.element.hidden = rows.count === 0;
    fill(foot, rows.count === 0 && !rest ? h("div", { class: "empty" }, empty()) : rest);
    fit();
  };
  /** Shows what comes, and how to go on. */
  const take = async (ask: (signal: AbortSignal) => PromiseLike<Page<T> | undefined>, isFirst: boolean) => {
    if (isFirst) {
      running.abort();
      running = new AbortController();
    }
    const { signal } = running;
    element.setAttribute("aria-busy", "true");
    if (rows.count === 0) fill(foot, h("p", { class: "loading" }, "Loading …"));
    try {
      const page = await ask(signal);
      await prepare?.(page ?? [], signal);
      if (signal.aborted) return;
      keepingFocus(element, () => {
        if (isFirst) rows.clear();
        for (const record of page ?? []) rows.put(record, "last");
        settle(page?.hasNext && moreButton(() => take(() => page.next(), false)));
      });
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      // What was there before is no answer to what was asked now, and would push the refusal out of sight.
      if (isFirst) rows.clear();
      settle(failed(error, () => take(ask, isFirst)));
    }
    element.removeAttribute("aria-busy");
  };

  return {
    element,
    reload: () => take(load, true),
    put(record) {
      keepingFocus(element, () => rows.put(record, "first"));
      if (rows.element.hidden) settle(null);
      else fit();
    },
    drop(record) {
      keepingFocus(element, () => rows.drop(record));
      if (rows.count === 0) settle(null);
    },
  };
}

/** Shows cards where the table has no room: how much it needs depends on names, language and what can be done. */
function fitting(element: HTMLElement, table: HTMLElement): () => void {
  return () => {
    element.classList.remove("narrow");
    element.classList.toggle("narrow", table.offsetWidth > element.clientWidth);
  };
}

function moreButton(act: () => Promise<void>): HTMLElement {
  return h("button", { type: "button", "data-key": "more", onclick: act }, "Show more");
}

/** What went wrong, and a way to try again where that can help. */
export function failed(error: unknown, again: () => unknown, label = "Try again"): HTMLElement {
  return h(
    "div",
    { class: "failed", role: "alert" },
    h("p", {}, explained(error)),
    canTryAgain(error) && h("button", { type: "button", onclick: again }, label),
  );
}
