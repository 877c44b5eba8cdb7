import { codeBlock, curl, shellSetup } from "./examples.ts";
import { type Html, html, join } from "./html.ts";
import { headerAnchor, type Prose, paragraphs } from "./prose.ts";
import type { Reference } from "./reference.ts";
import { columns } from "./schemas.ts";

export function introduction(reference: Reference, prose: Prose): Html {
  const { title, version, about, tags } = reference;
  const first = tags
    .flatMap((tag) => tag.operations)
    .find(({ method, inPath }) => method === "GET" && inPath.length === 0);
  return html`
<section class="split" id="introduction" aria-labelledby="introduction-title">
<div class="told">
<h1 id="introduction-title">${title} API</h1>
<p class="version">Version ${version} · <a href="/openapi.json">OpenAPI as JSON</a> · <a href="/openapi.yaml">as YAML</a></p>
<div class="lead">${paragraphs(about.split("\n\n")[0] as string, prose)}</div>
<p>The base address is that of the server that gave you this page; on your own machine it is <code>http://localhost:8080</code>
unless you chose another. Paths have no trailing slash. Bodies are JSON in UTF‑8.</p>
<h2 id="authentication">Authentication</h2>
<p>Send your key with each request as <code>X-API-Key: ps_live_...</code> or
<code>Authorization: Bearer ps_live_...</code>, never in a URL, where logs keep it.</p>
<p id="roles">A key has one of the roles ${join(
    reference.roles.map((role) => html`<code>${role}</code>`),
    ", ",
  )};
each includes the ones before it. Every operation names the least role that it needs.</p>
</div>
<div class="shown">
${codeBlock("Once, in your shell", shellSetup)}
${first && codeBlock("Your first request", curl(first))}
</div>
</section>`;
}

/** Rules that hold for all operations; a word in backticks becomes a link where it names part of the page. */
export const conventions: readonly (readonly [id: string, title: string, text: string])[] = [
  [
    "lists",
    "Lists",
    'A list is a bare JSON array. Its `Link` header has `rel="next"` while there is more, and `rel="first"`: follow them as they are. A cursor is opaque and good for one order of one list.',
  ],
  [
    "failures",
    "Errors",
    "Every failure is an `Error` with a stable `code`; `details` names each field or parameter at once. Decide by `code`, not by the message. `X-Should-Retry: false` means that a repetition cannot help; where it can, `Retry-After` says when.",
  ],
  [
    "idempotency",
    "Idempotency",
    "Every write takes an `Idempotency-Key` of 1 to 255 visible characters. The same key with the same request gives the first answer again for 24 hours, marked `Idempotency-Replayed`; with another request it is `idempotency_key_reused`.",
  ],
  [
    "etags",
    "ETags",
    "A pet, category, order, stock entry, client or webhook has an `ETag`. Send it as `If-None-Match` to read only what changed (304 otherwise), and as `If-Match` to write only if nobody else wrote in between (`precondition_failed` otherwise). Where a record has none, `If-Match` is refused, and so is `If-None-Match` with a write.",
  ],
  [
    "limits",
    "Limits",
    "A client has so many requests a minute and a UTC day by its plan, shared by all its keys. Every answer says how they stand: `X-RateLimit-Remaining`, `X-RateLimit-Reset`, and both windows in `RateLimit`. After a 429 wait for `Retry-After`; requests before that lead to a ban (`key_banned`). `GET /account/limits` shows it all and costs nothing, and `Prefer: simulate=rate_limit` rehearses it.",
  ],
  [
    "values",
    "Values",
    "Ids are int64: keep all their digits. Times are RFC 3339 with an offset. An absent value is left out; in a merge patch `null` clears it. Unknown fields and parameters are refused, never ignored.",
  ],
  [
    "versions",
    "Versions",
    "`API-Version` in an answer is the version that answered. Send 1, 1.0 or 1.0.0 to insist on it; any other is `unsupported_version`.",
  ],
  [
    "stability",
    "Stability",
    "An operation marked `beta` or `experimental` may still change; its answers say so in `X-API-Stability`. All others are stable.",
  ],
];

export function conventionSection(prose: Prose): Html {
  return html`
<section id="conventions" aria-labelledby="conventions-title">
<h2 id="conventions-title">Conventions</h2>
<dl class="rules">${conventions.map(
    ([id, title, text]) => html`
<div id="${id}"><dt>${title}</dt><dd>${prose(text)}</dd></div>`,
  )}
</dl>
</section>`;
}

export function headerSection({ requestHeaders, answerHeaders }: Reference, prose: Prose): Html {
  const anchored = new Set(Object.keys(requestHeaders));
  const rows = (headers: Reference["requestHeaders"], isAnchored: (name: string) => boolean) =>
    Object.entries(headers).map(
      ([name, { description, example }]) => html`
<tr ${isAnchored(name) && html`id="${headerAnchor(name)}"`}><th scope="row"><code>${name}</code></th>
<td><p>${prose(description)}</p>${example !== undefined && html`<p class="limits">for example <code>${String(example)}</code></p>`}</td></tr>`,
    );
  return html`
<section id="headers" aria-labelledby="headers-title">
<h2 id="headers-title">Headers</h2>
<div class="pair">
<div><h3>Request headers</h3><table class="fields">${columns("Header", "Meaning")}
<tbody>${rows(requestHeaders, () => true)}</tbody></table></div>
<div><h3>Response headers</h3><table class="fields">${columns("Header", "Meaning")}
<tbody>${rows(answerHeaders, (name) => !anchored.has(name))}</tbody></table></div>
</div>
</section>`;
}
