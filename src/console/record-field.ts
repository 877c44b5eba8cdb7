import { h, newId } from "./dom.ts";
import { type Field, field, Misentered } from "./fields.ts";

/** Typing is waited for this long before anything is asked. */
const TYPING_MS = 200;

interface Named {
  readonly id: number;
  readonly name: string;
}

interface RecordOptions {
  readonly label: string;
  readonly hint?: string;
  readonly value?: Named | undefined;
  /** Nothing is not an answer. */
  readonly required?: boolean;
  /** The records whose name starts so. */
  readonly search: (name: string) => Promise<readonly Named[]>;
  readonly onChange?: () => void;
}

/** A record that is found by typing the beginning of its name; its number does too. */
export function recordField(name: string, options: RecordOptions): Field<number> {
  const { value, search, required, onChange } = options;
  const known = new Map<string, number>();
  const listId = newId();
  const list = h("datalist", { id: listId });
  const input = h("input", { type: "text", list: listId, autocomplete: "off" });
  let timer = 0;
  /** What was looked for last. */
  let looked: string | undefined;
  const offer = (found: readonly Named[]) => {
    for (const each of found) known.set(wordsOf(each), each.id);
    list.replaceChildren(...found.map((each) => h("option", { value: wordsOf(each) })));
  };
  const look = async () => {
    const text = input.value.trim();
    if (known.has(text) || text === looked) return;
    offer(await search(text));
    looked = text;
  };
  const lookAhead = () => look().catch(() => {});
  input.addEventListener("focus", () => list.childElementCount === 0 && lookAhead());
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(lookAhead, TYPING_MS);
  });
  if (onChange) input.addEventListener("change", onChange);
  if (value) {
    known.set(wordsOf(value), value.id);
    input.value = wordsOf(value);
  }
  const read = async (): Promise<number | undefined> => {
    clearTimeout(timer);
    const text = input.value.trim();
    if (text === "" && !required) return undefined;
    let id = known.get(text) ?? numberIn(text);
    if (id === undefined && text !== "") {
      // Whoever types fast is done before anything was asked; and what begins alike does not have all of one name.
      await look();
      id = onlyNamed(known, text);
    }
    if (id === undefined) throw new Misentered(name, "choose one of the list, or give its number");
    return id;
  };
  const whole = field(name, options, input, read);
  whole.element.append(list);
  return whole;
}

function wordsOf({ name, id }: Named): string {
  return `${name} (#${id})`;
}

/** Whoever types a whole name that only one has need not choose. */
function onlyNamed(known: ReadonlyMap<string, number>, text: string): number | undefined {
  const wanted = text.toLowerCase();
  const named = [...known].filter(([words]) => words.replace(/ \(#\d+\)$/, "").toLowerCase() === wanted);
  return named.length === 1 ? named[0]?.[1] : undefined;
}

function numberIn(text: string): number | undefined {
  const digits = /^#?(\d{1,15})$/.exec(text)?.[1] ?? /\(#(\d{1,15})\)$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
