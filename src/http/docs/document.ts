/** A JSON schema as the OpenAPI document has it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Header {
  readonly description: string;
  readonly example?: unknown;
}

interface Operation {
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, { readonly headers?: Readonly<Record<string, Header>> }>>;
}

/** What the reference reads of the OpenAPI document. */
export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The document with its operations whole: whatever they point to stands in its place, except schemas. */
export function whole(document: object): Document {
  const at = (address: string) =>
    address
      .slice("#/".length)
      .split("/")
      .reduce<unknown>((node, step) => (node as Record<string, unknown>)[step], document);
  const resolved = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolved);
    if (typeof node !== "object" || node === null) return node;
    const target = "$ref" in node ? String(node.$ref) : undefined;
    if (target && !nameOf(target)) return resolved(at(target));
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value)]));
  };
  return resolved(document) as Document;
}

/** The name of the schema that a reference points to. */
export function nameOf(reference: string): string | undefined {
  return /^#\/components\/schemas\/(.+)$/.exec(reference)?.[1];
}
