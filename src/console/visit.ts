import type { Account } from "../../client/src/index.ts";
import { type Child, h, once } from "./dom.ts";

/** One look at a page. */
export interface Visit {
  readonly account: Account;
  /** What the address names, such as a pet's number. */
  readonly id: number;
  /** What the address names within that, such as a delivery of a webhook. */
  readonly innerId: number;
  readonly query: URLSearchParams;
  /** Aborted when another page is opened. */
  readonly signal: AbortSignal;
  /** Draws the page anew, because something on it has changed. */
  refresh(): Promise<void>;
}

/** A page: what it shows for a visit. */
export interface Page {
  readonly title: string;
  readonly show: (visit: Visit) => Child | Promise<Child>;
}

/** A page's heading with what can be done there. */
export function heading(title: Child, ...acts: Child[]): HTMLElement {
  return h(
    "header",
    { class: "page-head" },
    h("h1", { tabindex: "-1" }, title),
    acts.length > 0 && h("div", { class: "page-acts" }, acts),
  );
}

/** A part of a page under a heading of its own. */
export function section(title: string, ...children: Child[]): HTMLElement {
  return h("section", {}, h("h2", {}, title), children);
}

/** Names and their values. */
export function facts(...pairs: readonly (readonly [name: string, value: Child])[]): HTMLElement {
  return h(
    "dl",
    { class: "facts" },
    pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

/** A value that may be long: it has the whole width. */
export function whole(value: string): HTMLElement {
  return h("span", { class: "whole" }, value);
}

/** A text of several lines, as it was entered. */
export function lines(text: string): HTMLElement {
  return h("span", { class: "lines" }, text);
}

/** A button that does something, once at a time; its key says which one it is, when the page is drawn anew. */
export function button(
  label: string,
  key: string,
  act: () => unknown,
  kind: "main" | "danger" | "" = "",
): HTMLButtonElement {
  const press = (): Promise<void> => once(element, act);
  const element: HTMLButtonElement = h(
    "button",
    { type: "button", class: kind, "data-key": key, onclick: press },
    label,
  );
  return element;
}
