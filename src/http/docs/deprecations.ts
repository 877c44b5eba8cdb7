import { codeBlock, curl } from "./examples.ts";
import { type Html, html } from "./html.ts";
import { operationOf } from "./operation.ts";
import { day, moment, type Prose } from "./prose.ts";
import type { Operation, Reference } from "./reference.ts";

export function deprecationSection(reference: Reference, prose: Prose): Html {
  const deprecated = reference.tags
    .flatMap((tag) => tag.operations)
    .filter(({ successor }) => successor !== undefined);
  return html`
<section id="deprecations" aria-labelledby="deprecations-title">
<h2 id="deprecations-title">Deprecations</h2>
<p>${prose(
    "A deprecated operation works until its sunset. Its answers carry `Deprecation`, `Sunset`, and in `Link` the successor; after the sunset it answers `operation_sunset`.",
  )}</p>
${deprecated.length > 0 ? deprecated.map((each) => deprecation(each, reference)) : html`<p>At present nothing is deprecated.</p>`}
</section>`;
}

function deprecation(operation: Operation, { tags, dates }: Reference): Html {
  const next = operationOf(tags, operation.successor);
  return html`
<article class="entry">
<h3><a class="mono" href="#${operation.id}">${operation.method} ${operation.path}</a></h3>
<dl class="facts">
<div><dt>Deprecated since</dt><dd>${day(dates.deprecatedAt)}</dd></div>
<div><dt>Works until</dt><dd>${moment(dates.sunsetAt)}</dd></div>
${next && html`<div><dt>Use instead</dt><dd><a href="#${next.id}"><code>${next.method} ${next.path}</code></a></dd></div>`}
</dl>
<div class="pair">
${codeBlock("Before", curl(operation))}
${next && codeBlock("After", curl(next))}
</div>
</article>`;
}
