import type { Page } from "../../client/src/index.ts";
import { keepingFocus } from "./dialog.ts";
import { type Child, fill, h } from "./dom.ts";
import { explained, isAbort } from "./words.ts";

export interface Column<T> {
  readonly name: string;
  readonly cell: (record: T) => Child;
  readonly kind?: "number" | "short" | "acts";
}

export interface ListOptions<T> {
  /** What the list is of, for those who hear the page. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (record: T) => number | string;
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
  const { label, columns, keyOf, load, prepare, empty } = options;
  const rows = new Map<string, HTMLTableRowElement>();
  const body = h("tbody");
  const head = columns.map(({ name, kind = "" }) => h("th", { scope: "col", class: kind }, name));
  const table = h(
    "table",
    { class: "list" },
    h("caption", { class: "heard" }, label),
    h("thead", {}, h("tr", {}, head)),
    body,
  );
  const foot = h("div", { class: "foot", "aria-live": "polite" });
  const element = h("div", { class: "listing" }, table, foot);
  let running = new AbortController();

  const rowOf = (record: T): HTMLTableRowElement =>
    h(
      "tr",
      {},
      columns.map(({ name, cell, kind = "" }, at) =>
        at === 0
          ? h("th", { scope: "row" }, cell(record))
          : h("td", { class: kind, "data-label": name }, cell(record)),
      ),
    );
  const show = (record: T, place: "first" | "last") => {
    const key = String(keyOf(record));
    const row = rowOf(record);
    const before = rows.get(key);
    if (before) before.replaceWith(row);
    else if (place === "first") body.prepend(row);
    else body.append(row);
    rows.set(key, row);
  };
  const settle = (rest: Child) => {
    table.hidden = rows.size === 0;
    fill(foot, rows.size === 0 && !rest ? h("div", { class: "empty" }, empty()) : rest);
  };
  /** Shows what comes, and how to go on. */
  const take = async (ask: (signal: AbortSignal) => PromiseLike<Page<T> | undefined>, isFirst: boolean) => {
    if (isFirst) {
      running.abort();
      running = new AbortController();
    }
    const { signal } = running;
    element.setAttribute("aria-busy", "true");
    if (rows.size === 0) fill(foot, h("p", { class: "loading" }, "Loading …"));
    try {
      const page = await ask(signal);
      await prepare?.(page ?? [], signal);
      if (signal.aborted) return;
      keepingFocus(element, () => {
        if (isFirst) {
          rows.clear();
          body.replaceChildren();
        }
        for (const record of page ?? []) show(record, "last");
        settle(page?.hasNext && moreButton(() => take(() => page.next(), false)));
      });
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      settle(failed(error, () => take(ask, isFirst)));
    }
    element.removeAttribute("aria-busy");
  };

  return {
    element,
    reload: () => take(load, true),
    put(record) {
      keepingFocus(element, () => show(record, "first"));
      if (table.hidden) settle(null);
    },
    drop(record) {
      const key = String(keyOf(record));
      keepingFocus(element, () => rows.get(key)?.remove());
      rows.delete(key);
      if (rows.size === 0) settle(null);
    },
  };
}

function moreButton(act: () => Promise<void>): HTMLElement {
  return h("button", { type: "button", "data-key": "more", onclick: act }, "Show more");
}

/** What went wrong, and a way to try again. */
export function failed(error: unknown, again: () => unknown, label = "Try again"): HTMLElement {
  return h(
    "div",
    { class: "failed", role: "alert" },
    h("p", {}, explained(error)),
    h("button", { type: "button", onclick: again }, label),
  );
}
