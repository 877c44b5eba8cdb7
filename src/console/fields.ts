import { type Attributes, fill, h, newId } from "./dom.ts";

/** One entry of a form. */
export interface Field<T = unknown> {
  readonly name: string;
  readonly element: HTMLElement;
  /** What was entered; `undefined` for nothing. */
  read(): T | undefined | Promise<T | undefined>;
  /** Shows what is wrong with it, or that nothing is. */
  complain(message: string | undefined): void;
  focus(): void;
}

interface FieldOptions {
  readonly label: string;
  readonly hint?: string;
  readonly value?: string | number | undefined;
  /** Nothing is not an answer. */
  readonly required?: boolean;
}

type TextOptions = FieldOptions & { readonly value?: string | undefined };

/** A line of text. */
export function textField(
  name: string,
  options: TextOptions & { readonly attributes?: Attributes },
): Field<string> {
  const { value = "", attributes } = options;
  return written(name, options, h("input", { type: "text", value, autocomplete: "off", ...attributes }));
}

/** Text of several lines. */
export function linesField(name: string, options: TextOptions): Field<string> {
  return written(name, options, h("textarea", { rows: 3 }, options.value ?? ""));
}

function written(
  name: string,
  options: TextOptions,
  control: HTMLInputElement | HTMLTextAreaElement,
): Field<string> {
  const { value, required } = options;
  const filledWith = control.value;
  return field(name, options, control, () => {
    // A control cannot hold every text: a line drops what begins another one.
    if (control.value === filledWith && value !== undefined) return value;
    // What is left empty is sent all the same where it is required: the API says what it must be.
    return control.value === "" && !required ? undefined : control.value;
  });
}

/** A whole number. */
export function numberField(name: string, options: FieldOptions): Field<number> {
  const { value = "", required } = options;
  const input = numberInput({ value });
  return field(name, options, input, () => {
    const text = input.value.trim();
    if (text === "" && !required) return undefined;
    if (!isWhole(text)) throw new Misentered(name, "must be a whole number");
    return Number(text.replace("−", "-"));
  });
}

/** Whether it is digits, with a minus as keyboards or as books have it. */
export function isWhole(text: string): boolean {
  return /^[-−]?\d+$/.test(text);
}

/** A line for digits. No control for numbers: the wheel of a mouse that only passes over one changes it. */
export function numberInput(attributes: Attributes): HTMLInputElement {
  return h("input", { type: "text", inputmode: "numeric", autocomplete: "off", ...attributes });
}

/** One of several. */
export function choiceField<T extends string>(
  name: string,
  options: FieldOptions & { readonly choices: readonly (readonly [value: T, label: string])[] },
): Field<T> {
  const select = h(
    "select",
    {},
    options.choices.map(([value, label]) => h("option", { value, selected: value === options.value }, label)),
  );
  return field(name, options, select, () => (select.value === "" ? undefined : (select.value as T)));
}

/** Yes or no. */
export function checkField(
  name: string,
  options: { label: string; hint?: string; value?: boolean },
): Field<boolean> {
  const input = h("input", { type: "checkbox", checked: options.value });
  const { hint, label } = options;
  return field(name, { label, ...(hint !== undefined && { hint }) }, input, () => input.checked, "check");
}

/** A day and a time in the reader's zone; sent as a point in time. */
export function timeField(
  name: string,
  options: FieldOptions & { readonly value?: string | undefined },
): Field<string> {
  const { value } = options;
  const filling = value === undefined ? "" : localTime(value);
  const input = h("input", { type: "datetime-local", value: filling, max: "9999-12-31T23:59" });
  const filledWith = input.value;
  return field(name, options, input, () => {
    if (input.validity.badInput || input.validity.rangeOverflow)
      throw new Misentered(name, "must be a day and a time, with a year of four digits");
    // The control shows no seconds, and not which one of the two hours it is when clocks are set back.
    if (input.value === filledWith) return value;
    return input.value === "" ? undefined : new Date(input.value).toISOString();
  });
}

/** Something was entered that cannot even be sent. */
export class Misentered extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
    this.name = "Misentered";
  }
}

/** A label, the control, a hint and a place for a complaint, tied together for those who hear the page. */
export function field<T>(
  name: string,
  { label, hint }: Pick<FieldOptions, "label" | "hint">,
  control: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement,
  read: Field<T>["read"],
  kind = "",
): Field<T> {
  const [id, hintId, errorId] = [newId(), newId(), newId()];
  const error = h("p", { class: "error", id: errorId });
  control.id = id;
  control.name = name;
  if (hint !== undefined) control.setAttribute("aria-describedby", hintId);
  const element = h(
    "div",
    { class: `field ${kind}` },
    h("label", { for: id }, label),
    control,
    hint !== undefined && h("p", { class: "hint", id: hintId }, hint),
    error,
  );
  return {
    name,
    element,
    read,
    complain(message) {
      fill(error, message === undefined ? null : sentence(message));
      control.setAttribute("aria-invalid", String(message !== undefined));
      const described = [hint !== undefined && hintId, message !== undefined && errorId].filter(Boolean);
      if (described.length > 0) control.setAttribute("aria-describedby", described.join(" "));
      else control.removeAttribute("aria-describedby");
    },
    focus: () => control.focus(),
  };
}

/** `must be whole` becomes `Must be whole.` */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** As the browser's own control for times wants it. */
function localTime(iso: string): string {
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
