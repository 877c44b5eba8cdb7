import { keepQuery } from "./address.ts";
import { h, newId } from "./dom.ts";
import { isWhole, Misentered, numberInput } from "./fields.ts";

/** Typing is waited for this long before the list is asked for. */
const TYPING_MS = 250;

type Choices = readonly (readonly [value: string, label: string])[];

/** One thing that a list can be narrowed by. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  /** Without them it is a line of text. */
  readonly choices?: Choices;
  readonly type?: "search" | "number" | "date";
}

export interface Filters {
  readonly element: HTMLElement;
  /** What is chosen; nothing for what is not. */
  value(name: string): string | undefined;
  /** All that is chosen, as the query of a list: but for numbers, whether it is one is for the API to judge. */
  asked<T extends object>(): T;
  /** Whether the list is narrowed at all. */
  isNarrowed(): boolean;
}

/** What a list is narrowed by: in force at once, and kept in the address. */
export function filters(
  path: string,
  query: URLSearchParams,
  wanted: readonly Filter[],
  onChange: () => void,
): Filters {
  const controls = new Map<string, HTMLInputElement | HTMLSelectElement>();
  let timer = 0;
  const changed = () => {
    clearTimeout(timer);
    // The page was left while it was typed.
    if (!element.isConnected) return;
    keepQuery(path, Object.fromEntries([...controls].map(([name, { value }]) => [name, value])));
    onChange();
  };
  const typed = () => {
    clearTimeout(timer);
    timer = window.setTimeout(changed, TYPING_MS);
  };
  const fields = wanted.map(({ name, label, choices, type = "search" }) => {
    const id = newId();
    const value = query.get(name) ?? "";
    const control = choices
      ? h(
          "select",
          { id, onchange: changed },
          choicesWith(choices, value).map(([each, words]) =>
            h("option", { value: each, selected: each === value }, words),
          ),
        )
      : type === "number"
        ? numberInput({ id, value, oninput: typed })
        : h("input", { id, type, value, autocomplete: "off", max: "9999-12-31", oninput: typed });
    controls.set(name, control);
    return h("div", { class: "field" }, h("label", { for: id }, label), control);
  });
  const value = (name: string) => controls.get(name)?.value.trim() || undefined;
  const submit = (event: Event) => {
    event.preventDefault();
    changed();
  };
  const element = h("form", { class: "filters", role: "search", onsubmit: submit }, fields);
  return {
    element,
    value,
    asked: <T>() =>
      Object.fromEntries(wanted.map((each) => [each.name, judged(each, value(each.name))])) as T,
    isNarrowed: () => wanted.some(({ name }) => name !== "sort" && value(name) !== undefined),
  };
}

/** A number is not for the API to judge: it knows nothing of the labels here. */
function judged({ name, label, type }: Filter, value: string | undefined): string | undefined {
  if (type === "number" && value !== undefined && !isWhole(value))
    throw new Misentered(name, `${label} must be a whole number.`);
  return value;
}

/** What an address asks for is in force, though there be no such choice: the list says what comes of it. */
function choicesWith(choices: Choices, value: string): Choices {
  return choices.some(([each]) => each === value) ? choices : [...choices, [value, value]];
}
