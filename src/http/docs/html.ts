/** Markup that is safe to send: made by `html`, which escapes whatever is put into it. */
export class Html {
  constructor(readonly markup: string) {}
}

export type Part = Html | string | number | bigint | false | null | undefined | readonly Part[];

/** Markup with values in it; only what is `Html` already goes in as it is. */
export function html(markup: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(markup.reduce((before, after, index) => `${before}${markupOf(parts[index - 1])}${after}`));
}

export function join(parts: readonly Part[], separator: string): Html {
  return new Html(parts.map(markupOf).join(escaped(separator)));
}

function markupOf(part: Part): string {
  if (part === undefined || part === null || part === false) return "";
  if (part instanceof Html) return part.markup;
  return Array.isArray(part) ? part.map(markupOf).join("") : escaped(String(part));
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] as string);
}
