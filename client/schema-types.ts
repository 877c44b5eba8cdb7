// The contract's JSON schemas as TypeScript.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly maximum?: number;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
}

export type Schemas = Readonly<Record<string, Schema>>;

const WIDTH = 110;

/** What is said of fields that mean the same wherever they are. */
const usual: Readonly<Record<string, string>> = {
  id: "The record's id.",
  data: "The record that it tells of.",
  petId: "The pet's id.",
  clientId: "The client's id.",
  keyId: "The key's id.",
  name: "Its name.",
  description: "A short description.",
  perMinute: "Requests that it may send in a minute.",
  perDay: "Requests that it may send in a UTC day.",
  suspended: "Whether all its keys are refused.",
  createdAt: "When it was made.",
  expiresAt: "When it stops working, if it does.",
  revokedAt: "When it was revoked, if it was.",
  bannedUntil: "Until when the key is banned, if it is.",
  reason: "Why, if that was told.",
  since: "When it began.",
  until: "When it ends.",
  at: "When it happened.",
  limit: "Requests that the window allows.",
  remaining: "Requests that are left of it.",
  windowSeconds: "How long a strike counts.",
  client: "The client that the key belongs to.",
  total: "All requests.",
  requests: "How many requests it sent.",
  operation: "What was done, such as `pets.list`.",
};

/** A schema as a type; `isInput` leaves arrays that are only read open to readonly ones. */
export function typeOf(schema: Schema, schemas: Schemas, indent: string, isInput = false): string {
  const type = plainTypeOf(schema, schemas, indent, isInput);
  return schema.nullable ? `${type} | null` : type;
}

function plainTypeOf(schema: Schema, schemas: Schemas, indent: string, isInput: boolean): string {
  if (schema.$ref) {
    const name = nameOf(schema.$ref);
    const target = schemas[name];
    if (!target) throw new Error(`${schema.$ref} points at nothing.`);
    if (isArray(target)) return typeOf(target, schemas, indent, isInput);
    return name === "Error" ? "ErrorBody" : name;
  }
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const several = schema.oneOf ?? schema.anyOf;
  if (several) return several.map((each) => typeOf(each, schemas, indent)).join(" | ");
  if (schema.items) return arrayOf(typeOf(schema.items, schemas, indent), isInput);
  if (schema.properties) return `{\n${fieldsOf("", schema, schemas, `${indent}  `)}${indent}}`;
  if (typeof schema.additionalProperties === "object")
    return `Record<string, ${typeOf(schema.additionalProperties, schemas, indent)}>`;
  if (schema.type === "integer" || schema.type === "number")
    return isGivenId(schema) ? "number | bigint" : "number";
  if (schema.type === "boolean" || schema.type === "string") return schema.type;
  throw new Error(`No type is known for ${JSON.stringify(schema)}.`);
}

/** An id that comes from outside may be any int64; what the service gives stays below 2^53 and says so. */
function isGivenId({ format, maximum }: Schema): boolean {
  return format === "int64" && maximum === undefined;
}

export function isArray(schema: Schema): boolean {
  return schema.type === "array";
}

function arrayOf(type: string, isInput: boolean): string {
  const element = / [|] /.test(type) ? `(${type})` : type;
  return `${isInput ? "readonly " : ""}${element}[]`;
}

/** The fields of an object, each with its sentence. */
export function fieldsOf(owner: string, schema: Schema, schemas: Schemas, indent: string): string {
  return Object.entries(schema.properties ?? {})
    .map(([name, field]) => {
      const mark = schema.required?.includes(name) ? "" : "?";
      const doc = docsOf([documented(owner, name, field, schemas)], indent);
      return `${doc}${indent}${name}${mark}: ${typeOf(field, schemas, indent)};\n`;
    })
    .join("");
}

/** The sentence of a field: its own, its type's, or the usual one. */
export function documented(owner: string, name: string, field: Schema, schemas: Schemas): string {
  const own = field.description ?? (field.$ref && schemas[nameOf(field.$ref)]?.description) ?? usual[name];
  if (!own) throw new Error(`${owner}.${name} has no description: give its shape one with .meta().`);
  return own;
}

/** A doc comment of these sentences, on one line if it fits. */
export function docsOf(sentences: readonly string[], indent: string): string {
  const [first = ""] = sentences;
  if (sentences.length === 1 && first.length + indent.length + 7 <= WIDTH)
    return `${indent}/** ${first} */\n`;
  const lines = sentences.flatMap((each) => wrapped(each, WIDTH - indent.length - 3));
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

function wrapped(sentence: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of sentence.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function nameOf(reference: string): string {
  return reference.split("/").at(-1) as string;
}
