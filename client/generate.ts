// Writes client/src/api.ts from the contract: what the client's users see, as plain interfaces.
import { join } from "node:path";
import { api, everyEndpoint } from "../src/contract/api.ts";
import { errors } from "../src/contract/errors.ts";
import { eventData } from "../src/contract/event-shapes.ts";
import { type Api, type Endpoint, isWrite, takesIfMatch } from "../src/contract/route.ts";
import { componentSchemas } from "../src/contract/shape.ts";
import { docsOf, documented, fieldsOf, isArray, type Schema, type Schemas, typeOf } from "./schema-types.ts";

const schemas = componentSchemas() as Schemas;
const endpointById = new Map(everyEndpoint.map((endpoint) => [endpoint.id, endpoint]));

/** The text of client/src/api.ts. */
export function clientApi(): string {
  const parts = [
    "// Generated from the contract by client/generate.ts: `npm run generate` writes it anew.",
    'import type { Call, EventStream, ListCall } from "./call.ts";\nimport type { CallOptions, ChangeOptions, StreamOptions, WriteOptions } from "./options.ts";',
    ...Object.entries(schemas).map(([name, schema]) => recordOf(name, schema)),
    ...everyEndpoint.map(queryOf),
    ...resourcesOf(api, ""),
    errorCodes(),
    eventDataOf(),
    routeTable(),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** A record or an enumeration; arrays of records have no name of their own here. */
function recordOf(name: string, schema: Schema): string {
  if (isArray(schema)) return "";
  const given = name === "Error" ? "ErrorBody" : name;
  const doc = docsOf([schema.description ?? ""], "");
  if (schema.enum || schema.oneOf) return `${doc}export type ${given} = ${typeOf(schema, schemas, "")};`;
  return `${doc}export interface ${given} {\n${fieldsOf(name, schema, schemas, "  ")}}`;
}

function queryOf({ id, route }: Endpoint): string {
  if (!route.query) return "";
  const fields = Object.entries(route.query).map(([name, shape]) => {
    const schema = shape.schema as Schema;
    const type = typeOf(schema, schemas, "  ", true);
    return `${docsOf([documented(id, name, schema, schemas)], "  ")}  ${name}?: ${type} | undefined;\n`;
  });
  return `/** What \`${id}\` can be asked for. */\nexport interface ${queryName(id)} {\n${fields.join("")}}`;
}

function queryName(id: string): string {
  return `${pascal(id)}Query`;
}

/** An interface for each branch of the API's tree, the inner ones first. */
function resourcesOf(branch: Api, prefix: string): string[] {
  const entries = Object.entries(branch);
  const inner = entries.filter(([name]) => !endpointById.has(prefix + name));
  const members = entries.map(([name, entry]) => {
    const endpoint = endpointById.get(prefix + name);
    if (endpoint) return methodOf(name, endpoint);
    return `  /** ${namesOf(entry as Api, `${prefix}${name}.`)} */\n  readonly ${name}: ${resourceName(prefix + name)};\n`;
  });
  const doc = prefix === "" ? "The whole API." : `The operations under \`${prefix.slice(0, -1)}\`.`;
  return [
    ...inner.flatMap(([name, entry]) => resourcesOf(entry as Api, `${prefix}${name}.`)),
    `/** ${doc} */\nexport interface ${resourceName(prefix.slice(0, -1))} {\n${members.join("")}}`,
  ];
}

function namesOf(branch: Api, prefix: string): string {
  return Object.keys(branch)
    .map((name) => `\`${prefix}${name}\``)
    .join(", ");
}

function resourceName(id: string): string {
  return `${pascal(id)}Resource${id === "" ? "s" : ""}`;
}

function methodOf(name: string, endpoint: Endpoint): string {
  const { id, method, route } = endpoint;
  const doc = docsOf(
    [
      `${route.summary}.`,
      ...(route.description ? [route.description] : []),
      `${route.at}, for keys of the role ${route.role}${route.role === "admin" ? "" : " or above"}.`,
      ...(route.stability ? [`It is ${route.stability} and may change.`] : []),
      ...(route.successor ? [`@deprecated Use \`${route.successor}\`.`] : []),
    ],
    "  ",
  );
  const parameters = [
    ...Object.entries(route.params ?? {}).map(
      ([each, shape]) => `${each}: ${typeOf(shape.schema as Schema, schemas, "")}`,
    ),
    ...(route.body ? [bodyParameter(method, route.body.schema as Schema, route.body.id)] : []),
    ...(route.query ? [`query?: ${queryName(id)}`] : []),
    `options?: ${optionsOf(endpoint)}`,
  ];
  return `${doc}  ${name}(${parameters.join(", ")}): ${answerOf(route)};\n`;
}

function optionsOf({ method, route }: Endpoint): string {
  if (takesIfMatch(method, route)) return "ChangeOptions";
  if (isWrite(method)) return "WriteOptions";
  return route.kind === "stream" ? "StreamOptions" : "CallOptions";
}

/** What nothing is required of can be left out of a creation. */
function bodyParameter(method: string, schema: Schema, id: string | undefined): string {
  const named = id === undefined ? schema : (schemas[id] as Schema);
  const isOptional = method === "POST" && !isArray(named) && (named.required ?? []).length === 0;
  return `body${isOptional ? "?" : ""}: ${typeOf(id ? { $ref: `#/components/schemas/${id}` } : schema, schemas, "", true)}`;
}

function answerOf(route: Endpoint["route"]): string {
  const id = route.returns?.id;
  if (id === undefined) return "Call<undefined>";
  const schema = schemas[id] as Schema;
  if (route.kind === "stream")
    return `EventStream<${typeOf({ $ref: `#/components/schemas/${id}` }, schemas, "")}>`;
  if (route.kind === "list" && schema.items) return `ListCall<${typeOf(schema.items, schemas, "")}>`;
  return `Call<${typeOf({ $ref: `#/components/schemas/${id}` }, schemas, "")}>`;
}

function errorCodes(): string {
  const codes = Object.entries(errors).map(
    ([code, { status, cause }]) => `  /** ${status}: ${cause} */\n  | "${code}"`,
  );
  return `/** What \`error.code\` can be. */\nexport type ErrorCode =\n${codes.join("\n")};`;
}

/** The records that events tell of, by the names of the events. */
function eventDataOf(): string {
  const lines = Object.entries(eventData).map(
    ([type, { schema }]) => `  "${type}": ${typeOf(schema as Schema, schemas, "")};\n`,
  );
  return `/** The data of each type of event. */\nexport interface EventData {\n${lines.join("")}}`;
}

/** Method, path, and the words that the client goes by. */
function routeTable(): string {
  const lines = (branch: Api, prefix: string, indent: string): string =>
    Object.entries(branch)
      .map(([name, entry]) => {
        const endpoint = endpointById.get(prefix + name);
        if (endpoint) return `${indent}${name}: "${routeText(endpoint)}",\n`;
        return `${indent}${name}: {\n${lines(entry as Api, `${prefix}${name}.`, `${indent}  `)}${indent}},\n`;
      })
      .join("");
  return `/** Every operation: method, path, and what the client goes by. */\nexport const routes = {\n${lines(api, "", "  ")}} as const;`;
}

function routeText({ route }: Endpoint): string {
  const words = [
    route.at,
    ...(route.body || route.query ? ["input"] : []),
    ...(route.kind === "list" || route.kind === "stream" ? [route.kind] : []),
    ...(route.uncounted ? ["uncounted"] : []),
    ...(route.successor ? [`successor=${route.successor}`] : []),
  ];
  return words.join(" ");
}

function pascal(id: string): string {
  return id
    .split(".")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

if (import.meta.main) await Bun.write(join(import.meta.dir, "src/api.ts"), clientApi());
