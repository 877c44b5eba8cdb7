import { nameOf, type Parameter, type Schema } from "./document.ts";
import { type Html, html, join } from "./html.ts";
import { type Prose, schemaAnchor, schemaLink } from "./prose.ts";
import type { Reference } from "./reference.ts";

/** A field or parameter, as a row of a table. */
interface Field {
  readonly name: string;
  readonly isRequired: boolean;
  readonly meaning: string | undefined;
  readonly schema: Schema;
}

export function schemaSections({ schemas }: Reference, prose: Prose): Html {
  const sections = Object.entries(schemas).map(
    ([name, schema]) => html`
<section class="entry" id="${schemaAnchor(name)}">
<h3><a class="self mono" href="#${schemaAnchor(name)}">${name}</a></h3>
${schema.description && html`<p>${prose(schema.description)}</p>`}
${schema.properties ? fieldTable(schema, schemas, prose) : plainSchema(schema)}
</section>`,
  );
  return html`${sections}`;
}

/** The fields of an object; of an array, the fields of its items. */
export function fieldTable(schema: Schema, schemas: Reference["schemas"], prose: Prose): Html | undefined {
  const target = schema.$ref ? schemas[nameOf(schema.$ref) ?? ""] : schema;
  if (target?.items) return fieldTable(target.items, schemas, prose);
  if (!target?.properties) return undefined;
  const fields = Object.entries(target.properties).map(([name, each]) => ({
    name,
    schema: each,
    isRequired: target.required?.includes(name) ?? false,
    meaning: each.description ?? schemas[nameOf(each.$ref ?? "") ?? ""]?.description,
  }));
  return table("Field", fields, prose);
}

export function parameterTable(parameters: readonly Parameter[], prose: Prose): Html {
  const fields = parameters.map(({ name, required, description, schema }) => ({
    name,
    schema,
    isRequired: required,
    meaning: description,
  }));
  return table("Parameter", fields, prose);
}

function table(what: string, fields: readonly Field[], prose: Prose): Html {
  return html`<table class="fields">
${columns(what, "Meaning")}
<tbody>${fields.map((field) => row(field, prose))}</tbody>
</table>`;
}

/** The two columns of a table, whose heads only a screen reader needs. */
export function columns(first: string, second: string): Html {
  return html`<colgroup><col><col></colgroup>
<thead><tr><th scope="col">${first}</th><th scope="col">${second}</th></tr></thead>`;
}

function row({ name, isRequired, meaning, schema }: Field, prose: Prose): Html {
  const limits = limitsOf(schema);
  return html`
<tr><th scope="row"><code>${name}</code>${isRequired && html` <span class="required">required</span>`}<span class="type">${typeOf(schema)}</span></th>
<td>${meaning && html`<p>${prose(meaning)}</p>`}${limits.length > 0 && html`<p class="limits">${join(limits, " · ")}</p>`}</td></tr>`;
}

function plainSchema(schema: Schema): Html {
  return html`<p class="limits">${join([typeOf(schema), ...limitsOf(schema)], " · ")}</p>`;
}

function typeOf(schema: Schema): Html {
  const name = schema.$ref && nameOf(schema.$ref);
  if (name) return schemaLink(name);
  if (schema.items) return html`array of ${typeOf(schema.items)}`;
  const several = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  const type = several
    ? join(several.map(typeOf), schema.allOf ? " and " : " or ")
    : html`${schema.format ?? schema.type ?? "any"}`;
  return schema.nullable ? html`${type} or null` : type;
}

/** What a value must keep to, in words. */
function limitsOf(schema: Schema): Html[] {
  const limits: (Html | undefined)[] = [
    schema.enum &&
      html`one of ${join(
        schema.enum.map((value) => html`<code>${String(value)}</code>`),
        ", ",
      )}`,
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " items"),
    schema.default === undefined ? undefined : html`default <code>${JSON.stringify(schema.default)}</code>`,
  ];
  return limits.filter((limit) => limit !== undefined);
}

function range(least: number | undefined, most: number | undefined, unit: string): Html | undefined {
  // The largest exact number of JSON is no limit that anybody meets.
  const top = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (least === undefined && top === undefined) return undefined;
  if (least === undefined) return html`at most ${grouped(top as number)}${unit}`;
  return top === undefined
    ? html`at least ${grouped(least)}${unit}`
    : html`${grouped(least)} to ${grouped(top)}${unit}`;
}

function grouped(number: number): string {
  return number.toLocaleString("en-US");
}
