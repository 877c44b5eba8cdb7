import { type Html, html } from "./html.ts";
import { methodBadge } from "./operation.ts";
import { schemaAnchor, tagAnchor } from "./prose.ts";
import type { Reference, Tag } from "./reference.ts";

export function navigation({ tags, schemas }: Reference): Html {
  return html`
<nav id="contents" aria-label="Contents">
<p class="back"><a href="#introduction">Back to the top</a></p>
<h2>Start</h2>
<ul>
${link("introduction", "Introduction")}${link("authentication", "Authentication")}${link("conventions", "Conventions")}
</ul>
${tags.map(tagList)}
<h2>Reference</h2>
<ul>
${link("headers", "Headers")}${link("errors", "Error codes")}${link("deprecations", "Deprecations")}${link("schemas", "Schemas")}
</ul>
<ul class="names">${Object.keys(schemas).map((name) => link(schemaAnchor(name), name))}</ul>
</nav>`;
}

function tagList({ name, operations }: Tag): Html {
  return html`<h2><a href="#${tagAnchor(name)}">${name}</a></h2>
<ul>${operations.map(
    (operation) => html`
<li><a ${operation.successor && html`class="old"`} href="#${operation.id}"><span>${operation.summary}</span>${methodBadge(operation)}</a></li>`,
  )}
</ul>`;
}

function link(anchor: string, text: string): Html {
  return html`<li><a href="#${anchor}">${text}</a></li>`;
}
