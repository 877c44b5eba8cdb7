import { type Html, html } from "./html.ts";
import type { Reference } from "./reference.ts";

/** Plain text of the contract as markup: `code` in backticks, a link where it names something of the page. */
export type Prose = (text: string) => Html;

export function proseOf(reference: Reference): Prose {
  const targets = targetsOf(reference);
  return (text) =>
    html`${text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 0 ? part : code(part, targets.get(part))))}`;
}

export const schemaLink = (name: string): Html =>
  html`<a class="mono" href="#${schemaAnchor(name)}">${name}</a>`;

export const schemaAnchor = (name: string): string => `schema-${name}`;
export const errorAnchor = (code: string): string => `error-${code}`;
export const headerAnchor = (name: string): string => `header-${name.toLowerCase()}`;
export const tagAnchor = (name: string): string => `tag-${name}`;

/** A paragraph for each part that an empty line sets off. */
export function paragraphs(text: string, prose: Prose): Html[] {
  return text.split("\n\n").map((part) => html`<p>${prose(part)}</p>`);
}

/** A day as people write it. */
export function day(time: number): Html {
  const date = new Date(time);
  const written = date.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
  return html`<time datetime="${date.toISOString()}">${written}</time>`;
}

/** A moment to the second. */
export function moment(time: number): Html {
  return html`${day(time)}, ${new Date(time).toISOString().slice(11, 19)} UTC`;
}

function code(text: string, target: string | undefined): Html {
  return target === undefined
    ? html`<code>${text}</code>`
    : html`<a href="#${target}"><code>${text}</code></a>`;
}

function targetsOf({ tags, schemas, errors, requestHeaders, answerHeaders }: Reference): Map<string, string> {
  const operations = tags.flatMap((tag) => tag.operations);
  const headers = Object.keys({ ...answerHeaders, ...requestHeaders });
  return new Map([
    ...headers.map((name) => [name, headerAnchor(name)] as const),
    ...Object.keys(schemas).map((name) => [name, schemaAnchor(name)] as const),
    ...errors.map(({ code }) => [code, errorAnchor(code)] as const),
    ...operations.map(({ id, method, path }) => [`${method} ${path}`, id] as const),
  ]);
}
