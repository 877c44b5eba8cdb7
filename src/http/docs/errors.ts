import { type ErrorCode, errors as table } from "../../contract/errors.ts";
import type { ErrorBody } from "../../contract/shapes.ts";
import { codeBlock, json } from "./examples.ts";
import { type Html, html } from "./html.ts";
import { errorLink, statusLine } from "./operation.ts";
import { errorAnchor, type Prose, schemaLink } from "./prose.ts";
import type { Reference } from "./reference.ts";

const example = {
  code: "invalid_parameter" satisfies ErrorCode,
  message: "The request has 1 problem: limit must be at most 100, got 500.",
  status: table.invalid_parameter.status,
  details: [{ field: "limit", message: "must be at most 100, got 500" }],
} satisfies ErrorBody;

export function errorSection({ errors, commonErrors }: Reference, prose: Prose): Html {
  return html`
<section id="errors" aria-labelledby="errors-title">
<div class="split">
<div class="told">
<h2 id="errors-title">Error codes</h2>
<p id="common-errors">Every operation can answer with these ${commonErrors.length}:</p>
<p class="codes">${commonErrors.map((error) => html`${errorLink(error)} `)}</p>
</div>
<div class="shown">${codeBlock(html`Every failure is an ${schemaLink("Error")}`, json(example))}</div>
</div>
<table class="errors">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Cause</th><th scope="col">Remedy</th></tr></thead>
<tbody>${errors.map(
    ({ code, status, cause, remedy }) => html`
<tr id="${errorAnchor(code)}"><td class="mono" title="${statusLine(status)}">${status}</td>
<th scope="row"><a class="self" href="#${errorAnchor(code)}"><code>${code}</code></a></th>
<td>${prose(cause)}</td><td>${prose(remedy)}</td></tr>`,
  )}</tbody>
</table>
</section>`;
}
