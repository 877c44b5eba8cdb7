import { deprecationSection } from "./deprecations.ts";
import { errorSection } from "./errors.ts";
import { Html, html } from "./html.ts";
import { conventionSection, headerSection, introduction } from "./introduction.ts";
import { navigation } from "./navigation.ts";
import { operationSection } from "./operation.ts";
import { type Prose, proseOf, tagAnchor } from "./prose.ts";
import { type Dates, type Reference, reference, type Tag } from "./reference.ts";
import { schemaSections } from "./schemas.ts";
import { style } from "./style.ts";

/** The API reference: one page of the whole contract, with nothing to load besides it. */
export function docsPage(dates: Dates): string {
  return page(reference(dates));
}

/** What a browser may do with the page: apply its one style, and nothing else. */
export const docsPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${new Bun.CryptoHasher("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function page(reference: Reference): string {
  const prose = proseOf(reference);
  const { title } = reference;
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} API reference</title>
<meta name="description" content="Every operation, schema and error code of the ${title} API.">
${styleSheet}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="bar"><a class="title" href="#introduction">${title} <span>API reference</span></a><a class="open" href="#contents">Contents</a></header>
${navigation(reference)}
<main id="main" tabindex="-1">
${introduction(reference, prose)}
${conventionSection(prose)}
${reference.tags.map((tag) => tagSection(tag, reference, prose))}
${headerSection(reference, prose)}
${errorSection(reference, prose)}
${deprecationSection(reference, prose)}
<section id="schemas" aria-labelledby="schemas-title">
<h2 id="schemas-title">Schemas</h2>
${schemaSections(reference, prose)}
</section>
</main>
</body>
</html>
`;
  return markup;
}

const styleSheet = new Html(`<style>${style}</style>`);

function tagSection(tag: Tag, reference: Reference, prose: Prose): Html {
  const { name, description, operations } = tag;
  return html`
<section class="tag" id="${tagAnchor(name)}" aria-labelledby="${tagAnchor(name)}-title">
<h2 id="${tagAnchor(name)}-title">${name}</h2>
<p class="lead">${prose(description)}</p>
${operations.map((operation) => operationSection(operation, reference, prose))}
</section>`;
}
