import { z } from "zod";

export type Json = Record<string, unknown>;

const conversion = { target: "openapi-3.0", unrepresentable: "any", io: "input" } as const;

/** A shape with a name is one component, wherever it is used. */
export function reference(shape: z.ZodType): Json {
  const id = shape.meta()?.id;
  if (!id) throw new Error("A body's shape needs an id.");
  return { $ref: `#/components/schemas/${id}` };
}

/** Every shape that has a name. */
export function componentSchemas(): Json {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    ...conversion,
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .map(([id, schema]) => [id, tidy(schema)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** A shape in place, for a parameter. */
export function inlineSchema(shape: z.ZodType): unknown {
  return tidy(z.toJSONSchema(shape, conversion));
}

/** Takes out what OpenAPI 3.0 does not know, and points at components by their names. */
function tidy(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(tidy);
  if (typeof schema !== "object" || schema === null) return schema;
  const {
    $schema: _schema,
    $id: _address,
    id: _name,
    definitions: _definitions,
    $ref,
    properties,
    ...rest
  } = schema as Json;
  if (typeof $ref === "string") return { $ref: $ref.replace("#/definitions/", "#/components/schemas/") };
  if (Array.isArray(rest.allOf) && rest.allOf.length === 1) return tidy(rest.allOf[0]);
  if (rest.format === "date-time") delete rest.pattern;
  const tidied = Object.entries(rest).map(([key, value]) => [key, tidy(value)]);
  if (properties)
    tidied.push([
      "properties",
      Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, tidy(value)])),
    ]);
  return Object.fromEntries(tidied);
}
