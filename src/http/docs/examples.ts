import { type Html, html, join } from "./html.ts";
import type { Operation } from "./reference.ts";

const KEY_HEADER = '"X-API-Key: $PETSTORE_API_KEY"';

/** A block of code with a caption. */
export function codeBlock(caption: Html | string, content: Html | string): Html {
  return html`<figure><figcaption>${caption}</figcaption><pre><code>${content}</code></pre></figure>`;
}

/** The command that calls an operation with the contract's example. */
export function curl({ method, sampleTarget, body }: Operation): string {
  const parts = [
    `curl ${method === "GET" ? "" : `-X ${method} `}"$PETSTORE_URL${sampleTarget}"`,
    `-H ${KEY_HEADER}`,
  ];
  if (method === "POST") parts.push('-H "Idempotency-Key: $(uuidgen)"');
  if (body) parts.push('-H "Content-Type: application/json"', `-d ${quoted(body.example)}`);
  return parts.join(" \\\n  ");
}

/** JSON on one line, with spaces where it may be broken, quoted for a shell. */
function quoted(value: unknown): string {
  return `'${JSON.stringify(value, null, 1).replace(/\n */g, " ").replaceAll("'", "'\\''")}'`;
}

/** What a shell needs to know before the other commands. */
export const shellSetup = `export PETSTORE_URL=http://localhost:8080
export PETSTORE_API_KEY=ps_live_...`;

/** A JSON value over several lines, with its kinds of tokens marked. */
export function json(value: unknown, indent = ""): Html {
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((each) => html`${deeper}${json(each, deeper)}`);
    return value.length === 0 ? html`[]` : html`[\n${join(items, ",\n")}\n${indent}]`;
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(
      ([name, each]) => html`${deeper}<span class="k">${JSON.stringify(name)}</span>: ${json(each, deeper)}`,
    );
    return fields.length === 0 ? html`{}` : html`{\n${join(fields, ",\n")}\n${indent}}`;
  }
  if (typeof value === "string") return html`<span class="s">${JSON.stringify(value)}</span>`;
  return html`<span class="n">${String(value)}</span>`;
}
