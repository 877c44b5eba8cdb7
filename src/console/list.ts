import type { Page } from "../../client/src/index.ts";
import { keepingFocus } from "./dialog.ts";
import { type Child, fill, h } from "./dom.ts";
import { keptRows } from "./left.ts";
import { type RowsOptions, rowsOf } from "./rows.ts";
import { button } from "./visit.ts";
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
  const { label, load, prepare, empty } = options;
  const kept = keptRows(label);
  const rows = rowsOf(options);
  const foot = h("div", { class: "foot", "aria-live": "polite" });
  const element = h("div", { class: "listing" }, rows.element, foot);
  const fit = fitting(element, rows.element);
  // The foot is as wide as the list, and no higher or lower for what is shown above it.
  new ResizeObserver(fit).observe(foot);
  let running = new AbortController();
  let more: HTMLElement | false | undefined;

  const settle = (rest: Child) => {
    rows.element.hidden = rows.count === 0;
    fill(foot, rows.count === 0 && !rest ? h("div", { class: "empty" }, empty()) : rest);
    fit();
  };
  /** The page that was asked for; of a list that was longer, as many more as there were. */
  const pagesOf = async (first: PromiseLike<Page<T> | undefined>, count: number) => {
    const pages: Page<T>[] = [];
    let shown = 0;
    for (let page = await first; page; page = await page.next()) {
      pages.push(page);
      shown += page.length;
      if (shown >= count) break;
    }
    return pages;
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
      const pages = await pagesOf(ask(signal), isFirst ? kept.count() : 0);
      for (const page of pages) await prepare?.(page, signal);
      if (signal.aborted) return;
      const last = pages.at(-1);
      const isContinued = document.activeElement === more;
      keepingFocus(element, () => {
        if (isFirst) rows.clear();
        for (const page of pages) for (const record of page) rows.put(record, "last");
        more = last?.hasNext && button("Show more", "more", () => take(() => last.next(), false));
        settle(more);
        if (isContinued) rows.reach(last?.[0]);
      });
      kept.keep(rows.count);
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
    // A table is lower than its cards: a page that became so low for a moment would be scrolled up.
    element.style.minHeight = `${element.offsetHeight}px`;
    element.classList.remove("narrow");
    element.classList.toggle("narrow", table.offsetWidth > element.clientWidth);
    element.style.minHeight = "";
  };
}

/** What went wrong, and a way to try again where that can help. */
export function failed(error: unknown, again: () => unknown, label = "Try again"): HTMLElement {
  return h(
    "div",
    { class: "failed", role: "alert" },
    h("p", {}, explained(error)),
    canTryAgain(error) && button(label, "again", again),
  );
}
