import { fill, h, newId } from "./dom.ts";
import { type Field, sentence } from "./fields.ts";

interface SeveralOptions<T extends string> {
  readonly label: string;
  /** What the box says that stands for all of them, also for those that are not there yet. */
  readonly all: string;
  /** How to choose some instead. */
  readonly hint: string;
  readonly groups: ReadonlyMap<string, readonly T[]>;
  /** What is chosen; all of them without it. */
  readonly value?: readonly T[] | undefined;
}

/** Some of many, in groups, or all of them: all is no value. */
export function severalField<T extends string>(name: string, options: SeveralOptions<T>): Field<T[]> {
  const { label, all, hint, groups, value } = options;
  const boxes = new Map<T, HTMLInputElement>();
  const choice = (each: T) => {
    const box = h("input", { type: "checkbox", id: newId(), checked: value?.includes(each) });
    boxes.set(each, box);
    return boxed(box, each);
  };
  const errorId = newId();
  const error = h("p", { class: "error", id: errorId });
  const everything = h("input", { type: "checkbox", id: newId(), name, checked: value === undefined });
  const parts = h(
    "div",
    { class: "several" },
    [...groups].map(([kind, each]) => h("fieldset", {}, h("legend", {}, kind), each.map(choice))),
  );
  const how = h("p", { class: "hint" }, hint);
  const fold = () => {
    parts.hidden = everything.checked;
    how.hidden = !everything.checked;
  };
  everything.addEventListener("change", fold);
  fold();
  return {
    name,
    element: h(
      "fieldset",
      { class: "field" },
      h("legend", {}, label),
      boxed(everything, all),
      how,
      parts,
      error,
    ),
    read: () =>
      everything.checked ? undefined : [...boxes].filter(([, box]) => box.checked).map(([each]) => each),
    complain(message) {
      fill(error, message === undefined ? null : sentence(message));
      everything.setAttribute("aria-invalid", String(message !== undefined));
      if (message === undefined) everything.removeAttribute("aria-describedby");
      else everything.setAttribute("aria-describedby", errorId);
    },
    focus: () => everything.focus(),
  };
}

function boxed(box: HTMLInputElement, words: string): HTMLElement {
  return h("div", { class: "field check" }, box, h("label", { for: box.id }, words));
}
