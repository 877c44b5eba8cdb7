import { ApiError } from "../../client/src/index.ts";
import { openDialog } from "./dialog.ts";
import { type Child, fill, h, once } from "./dom.ts";
import { type Field, Misentered } from "./fields.ts";
import { tell } from "./notices.ts";
import { giveUpWrites } from "./patience.ts";
import { meanAnew } from "./repeats.ts";
import { explained, isAbort } from "./words.ts";

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
