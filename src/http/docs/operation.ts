import { STATUS_CODES } from "node:http";
import { codeBlock, curl, json } from "./examples.ts";
import { type Html, html, join } from "./html.ts";
import { day, errorAnchor, headerAnchor, type Prose, paragraphs, schemaLink } from "./prose.ts";
import type { KnownError, Operation, Reference, Tag } from "./reference.ts";
import { columns, fieldTable, parameterTable } from "./schemas.ts";

/** An operation: what it does on one side, how it looks on the wire on the other. */
export function operationSection(operation: Operation, reference: Reference, prose: Prose): Html {
  const { id, summary, description } = operation;
  return html`
<article class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="told">
<h3 id="${id}-title"><a class="self" href="#${id}">${summary}</a></h3>
<p class="address">${methodBadge(operation)} <code>${breakable(operation.path)}</code></p>
${badges(operation)}
${operation.successor && deprecationNotice(operation, reference)}
${description && paragraphs(description, prose)}
${parameters(operation, prose)}
${requestBody(operation, reference, prose)}
${answer(operation)}
${errorList(operation, reference.commonErrors, prose)}
</div>
<div class="shown">
${codeBlock("Request", curl(operation))}
${operation.body && codeBlock("Body", json(operation.body.example))}
${operation.answer.example !== undefined && codeBlock(html`Response <span class="mono">${statusLine(operation.answer.status)}</span>`, json(operation.answer.example))}
</div>
</article>`;
}

export function methodBadge({ method }: Operation): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ""}`.trim();
}

/** A path or code that may be broken after each of its steps. */
function breakable(text: string): Html {
  return html`${text.split(/(?<=.[/_])/).map((step, index) => (index === 0 ? step : html`<wbr>${step}`))}`;
}

function badges({ role, isForHigherRoles, stability, successor }: Operation): Html {
  return html`<ul class="badges">
<li><a href="#roles">Role: ${role}${isForHigherRoles && " or above"}</a></li>
${stability && html`<li><a class="${stability}" href="#stability">${stability}</a></li>`}
${successor && html`<li><a class="deprecated" href="#deprecations">deprecated</a></li>`}
</ul>`;
}

function deprecationNotice({ successor }: Operation, { dates, tags }: Reference): Html {
  const next = operationOf(tags, successor);
  return html`<p class="notice">Ends on ${day(dates.sunsetAt)}. ${
    next && html`Successor: <a href="#${next.id}"><code>${next.method} ${next.path}</code></a>. `
  }<a href="#deprecations">How to move</a></p>`;
}

export function operationOf(tags: readonly Tag[], id: string | undefined): Operation | undefined {
  return tags.flatMap((tag) => tag.operations).find((each) => each.id === id);
}

function parameters({ inPath, inQuery, inHeaders }: Operation, prose: Prose): Html {
  return html`
${inPath.length > 0 && html`<h4>Path parameters</h4>${parameterTable(inPath, prose)}`}
${inQuery.length > 0 && html`<h4>Query parameters</h4>${parameterTable(inQuery, prose)}`}
${inHeaders.length > 0 && html`<h4>Request headers</h4><p>${join(inHeaders.map(headerLink), ", ")}</p>`}`;
}

function headerLink(name: string): Html {
  return html`<a href="#${headerAnchor(name)}"><code>${name}</code></a>`;
}

function requestBody({ body }: Operation, { schemas }: Reference, prose: Prose): Html | undefined {
  const schema = body?.schema === undefined ? undefined : schemas[body.schema];
  if (!body?.schema || !schema) return undefined;
  const many = schema.items !== undefined;
  return html`<h4>Body <span class="aside">${schemaLink(body.schema)}</span></h4>
${many && schema.description && html`<p>${prose(schema.description)} The fields of each:</p>`}
${fieldTable(schema, schemas, prose)}`;
}

function answer({ answer: { status, schema, headers } }: Operation): Html {
  return html`<h4>Response</h4>
<p><span class="mono">${statusLine(status)}</span>${schema === undefined ? ", without a body" : html` with ${schemaLink(schema)}`}${
    headers.length > 0 && html`; headers ${join(headers.map(headerLink), ", ")}`
  }.</p>`;
}

function errorList({ ownErrors, kindErrors }: Operation, common: readonly KnownError[], prose: Prose): Html {
  return html`<h4>Errors</h4>
${
  ownErrors.length > 0 &&
  html`<table class="fields">
${columns("Code", "Cause")}
<tbody>${ownErrors.map(
    (error) => html`
<tr><th scope="row">${errorLink(error)}</th><td><p>${prose(error.cause)}</p></td></tr>`,
  )}</tbody>
</table>`
}
<p class="codes">${kindErrors.map((error) => html`${errorLink(error)} `)}<a href="#common-errors">${
    ownErrors.length + kindErrors.length > 0 ? "and" : "Only"
  } the ${common.length} that every operation has</a></p>`;
}

export function errorLink({ code, status }: KnownError): Html {
  return html`<a class="error" href="#${errorAnchor(code)}"><span>${status}</span> <code>${breakable(code)}</code></a>`;
}
