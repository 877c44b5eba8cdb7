import { ApiError } from "../../client/src/index.ts";
import { openDialog } from "./dialog.ts";
import { type Attributes, type Child, fill, h, newId, once } from "./dom.ts";
import { tell } from "./notices.ts";
import { giveUpWrites } from "./patience.ts";
import { meanAnew } from "./repeats.ts";
import { explained, isAbort } from "./words.ts";

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
    if (!/^[-−]?\d+$/.test(text)) throw new Misentered(name, "must be a whole number");
    return Number(text.replace("−", "-"));
  });
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

export interface FormOptions {
  readonly fields: readonly Field[];
  /** What the button says. */
  readonly verb: string;
  /** Sends what was entered; what it throws is shown, and everything stays as it was entered. Gives what follows, if somebody still looks. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most forms have nothing that follows
  readonly send: (values: Values) => Promise<void | (() => unknown)>;
  readonly cancel?: () => void;
}

/** What was entered, as the body of a request: whether it is one is for the API to judge. */
export function bodyOf<T>(values: Values): T {
  return values as unknown as T;
}

/** Only what was entered anew: what somebody else does to the rest meanwhile is not undone. What may be empty and is now is cleared. */
export function changedFrom(before: object, values: Values, mayBeEmpty?: string): Values {
  const nothing = mayBeEmpty === undefined ? {} : { [mayBeEmpty]: null };
  const old: Values = { ...nothing, ...before };
  return Object.fromEntries(
    Object.entries({ ...nothing, ...values }).filter(([name, value]) => old[name] !== value),
  );
}

/** What was entered, by the names of the fields; entries without a value are not there. */
export type Values = Readonly<Record<string, unknown>>;

/** A form whose complaints stand where they belong: at the field that the API names, or above the button. */
export function form({ fields, verb, send, cancel }: FormOptions): HTMLFormElement {
  const trouble = h("p", { class: "error summary", role: "alert" });
  const button = h("button", { type: "submit", class: "main" }, verb);
  const submit = (event: Event) => {
    event.preventDefault();
    return once(button, judged);
  };
  const judged = async () => {
    for (const each of fields) each.complain(undefined);
    fill(trouble);
    element.setAttribute("aria-busy", "true");
    try {
      await send(await entered(fields));
    } catch (error) {
      if (isAbort(error)) return;
      if (element.isConnected) show(error);
      else tell(explained(error));
    } finally {
      element.removeAttribute("aria-busy");
    }
  };
  const show = (error: unknown) => {
    const complaints = complaintsOf(error);
    const placed = complaints.filter(({ field: name, message }) => {
      const at = fields.find((each) => each.name === name);
      at?.complain(message);
      return at !== undefined;
    });
    fields.find(({ name }) => placed[0]?.field === name)?.focus();
    const others = complaints.filter((each) => !placed.includes(each));
    if (complaints.length === 0) fill(trouble, explained(error));
    else
      fill(
        trouble,
        others.map(({ field: name, message }) => `${name} ${message}. `),
      );
  };
  const element = h(
    "form",
    { novalidate: true, onsubmit: submit },
    fields.map((each) => each.element),
    trouble,
    h(
      "div",
      { class: "actions" },
      cancel && h("button", { type: "button", onclick: cancel }, "Cancel"),
      button,
    ),
  );
  return element;
}

/** A form in a dialog, which closes when what was entered is sent. Who closes it before gives up what waits to be sent. */
export function formDialog(title: string, options: FormOptions & { readonly before?: Child }): void {
  const { before, send, ...rest } = options;
  meanAnew();
  let isSending = false;
  const { closed, element } = openDialog(title, (close) => [
    before,
    form({
      ...rest,
      cancel: close,
      send: async (values) => {
        isSending = true;
        try {
          const next = await send(values);
          if (element.isConnected) next?.();
        } finally {
          isSending = false;
        }
        close();
      },
    }),
  ]);
  void closed.then(() => isSending && giveUpWrites());
}

async function entered(fields: readonly Field[]): Promise<Values> {
  const values: Record<string, unknown> = {};
  for (const { name, read } of fields) {
    const value = await read();
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function complaintsOf(error: unknown): readonly { readonly field: string; readonly message: string }[] {
  if (error instanceof Misentered) return [error];
  return error instanceof ApiError ? error.details : [];
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
