import { z } from "zod";
import { API_VERSION, everyEndpoint } from "./api.ts";
import { type ErrorCode, errors, errorsOf, takesIfMatch } from "./errors.ts";
import { type Endpoint, isWrite, type Shapes, successStatus } from "./route.ts";
import { ErrorBody } from "./shapes.ts";

type Json = Record<string, unknown>;

/** The dates that the document tells of. */
export interface DocumentDates {
  readonly sunsetAt: number;
}

/** The OpenAPI 3.0.3 document of the whole contract. */
export function openapi({ sunsetAt }: DocumentDates): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of everyEndpoint) {
    paths[endpoint.path] ??= {};
    (paths[endpoint.path] as Json)[endpoint.method.toLowerCase()] = operationOf(endpoint, sunsetAt);
  }
  return {
    openapi: "3.0.3",
    info: {
      title: "Petstore",
      version: API_VERSION,
      description: about,
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
      contact: { name: "The operator of this server" },
    },
    servers: [{ url: "/", description: "The server that serves this document." }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags,
    paths,
    components: {
      schemas: componentSchemas(),
      headers: headerComponents,
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "X-API-Key",
          description: "An API key, `ps_live_...`.",
        },
        bearer: { type: "http", scheme: "bearer", description: "The same API key as a bearer token." },
      },
    },
  };
}

const about = `Pets, categories, stock and orders over HTTP and JSON.

Lists are bare arrays with \`Link\` headers; failures are the \`Error\` object with a stable \`code\`; every write takes an
\`Idempotency-Key\`; single records have an \`ETag\`. Ids are int64.`;

const tags = [
  { name: "pets", description: "The animals of the store." },
  { name: "categories", description: "Kinds of animals." },
  { name: "store", description: "Pets with category and stock, orders, inventory." },
];

function operationOf(endpoint: Endpoint, sunsetAt: number): Json {
  const { id, route, path } = endpoint;
  return {
    operationId: id,
    tags: [tagOf(path)],
    summary: route.summary,
    description: [
      route.description,
      `Needs a key of the role \`${route.role}\`${route.role === "admin" ? "" : " or above"}.`,
    ]
      .filter(Boolean)
      .join("\n\n"),
    ...(route.successor && {
      deprecated: true,
      "x-deprecated-sunset": new Date(sunsetAt).toISOString().slice(0, 10),
    }),
    ...(route.stability && { "x-stability": route.stability }),
    parameters: parametersOf(endpoint),
    ...(route.body && { requestBody: requestBodyOf(endpoint) }),
    responses: responsesOf(endpoint),
  };
}

function tagOf(path: string): string {
  return path.split("/")[1] as string;
}

function parametersOf({ method, route }: Endpoint): Json[] {
  return [
    ...parametersIn("path", route.params ?? {}),
    ...parametersIn("query", route.query ?? {}),
    header("API-Version", "The version of the API: 1, 1.0 or 1.0.0.", API_VERSION),
    header(
      "X-Request-Id",
      "An id of your own for the request, 1 to 128 characters; the answer repeats it.",
      "shop-4711",
    ),
    ...(isWrite(method)
      ? [
          header(
            "Idempotency-Key",
            "Makes a repetition safe: the same key within 24 hours gives the first answer again.",
            "5b6c0d0e-1f7a-4d0b-9a52-0d4f9f6f3c11",
          ),
        ]
      : []),
    ...(takesIfMatch(method, route)
      ? [header("If-Match", "The write is done only if the record still has this ETag.", '"p3"')]
      : []),
    ...(method === "GET" && route.kind === "record"
      ? [header("If-None-Match", "304 if the record still has this ETag.", '"p3"')]
      : []),
  ];
}

function parametersIn(place: "path" | "query", shapes: Shapes): Json[] {
  return Object.entries(shapes).map(([name, shape]) => {
    const { description, ...schema } = inlineSchema(shape) as Json;
    return { name, in: place, required: place === "path", description, schema };
  });
}

function header(name: string, description: string, example: string): Json {
  return { name, in: "header", required: false, description, schema: { type: "string" }, example };
}

function requestBodyOf({ method, route }: Endpoint): Json {
  const content = { schema: reference(route.body as z.ZodType), example: route.example.body };
  return {
    required: true,
    content: {
      "application/json": content,
      ...(method === "PATCH" && { "application/merge-patch+json": content }),
    },
  };
}

function responsesOf(endpoint: Endpoint): Json {
  const { id, method, route } = endpoint;
  const responses: Json = {};
  const success = successStatus(route);
  responses[success] = {
    description: success === 201 ? "Created." : success === 204 ? "Done; there is no body." : "The answer.",
    headers: headersOf(endpoint, success),
    ...(route.returns && {
      content: { "application/json": { schema: reference(route.returns), example: route.example.returns } },
    }),
    ...linksOf(id, route.location),
  };
  if (method === "GET" && route.kind === "record") {
    responses[304] = {
      description: "The record still has the ETag of `If-None-Match`.",
      headers: headersOf(endpoint, 304),
    };
  }
  const byStatus = Map.groupBy(errorsOf(endpoint), (code) => errors[code].status as number);
  for (const [status, codes] of byStatus) responses[status] = errorResponse(endpoint, status, codes);
  return responses;
}

function errorResponse(endpoint: Endpoint, status: number, codes: readonly ErrorCode[]): Json {
  const examples = codes.map((code) => [
    code,
    { summary: errors[code].cause, value: { code, message: errors[code].cause, status } },
  ]);
  return {
    description: codes
      .map((code) => `\`${code}\`: ${errors[code].cause} ${errors[code].remedy}`)
      .join("\n\n"),
    headers: headersOf(endpoint, status),
    content: { "application/json": { schema: reference(ErrorBody), examples: Object.fromEntries(examples) } },
  };
}

/** From a creation to what can be done with the new record. */
function linksOf(id: string, location: string | undefined): Json {
  if (!location) return {};
  const target = location.replace(/\{id\}/, "{");
  const related = everyEndpoint.filter(({ path }) => path.startsWith(target) && path.endsWith("}"));
  if (related.length === 0) throw new Error(`The Location of ${id} is no path of the contract.`);
  const links = related.map(({ id: operationId, route }) => {
    const [parameter] = Object.keys(route.params ?? {});
    return [
      operationId.replace(".", "-"),
      { operationId, parameters: { [parameter as string]: "$response.body#/id" } },
    ];
  });
  return { links: Object.fromEntries(links) };
}

const headerComponents: Record<string, Json> = {
  "API-Version": headerOf("The version that answered.", API_VERSION),
  "X-Request-Id": headerOf("Names the request in the server's log.", "k3v9x2-1f"),
  "Cache-Control": headerOf(
    "A copy may be kept by the caller alone and is revalidated.",
    "private, no-cache",
  ),
  ETag: headerOf("The record's version, for `If-Match` and `If-None-Match`.", '"p3"'),
  Location: headerOf("The new record's address.", "/store/pets/7"),
  Link: headerOf(
    "`next` and `first` page of a list; `successor-version` and `deprecation` of a deprecated operation.",
    '</pets?cursor=WyJpZCIsN10>; rel="next"',
  ),
  "Idempotency-Replayed": headerOf(
    "`true` if this is the first answer to the same `Idempotency-Key`, again.",
    "true",
  ),
  "X-API-Stability": headerOf("`beta` or `experimental`: the operation may change.", "beta"),
  Deprecation: headerOf("Since when the operation is deprecated (RFC 9745).", "@1793491200"),
  Sunset: headerOf("When the operation ends (RFC 8594).", "Tue, 30 Nov 2027 23:59:59 GMT"),
  "Retry-After": headerOf("Seconds to wait before the request is worth repeating.", "1"),
  "X-Should-Retry": headerOf("`false` where a repetition cannot help.", "false"),
  "WWW-Authenticate": headerOf("How to present a key.", 'Bearer realm="petstore"'),
};

function headerOf(description: string, example: string): Json {
  return { description, schema: { type: "string" }, example };
}

function headersOf({ method, route }: Endpoint, status: number): Json {
  const names = ["API-Version", "X-Request-Id", "Cache-Control"];
  const isSuccess = status < 400;
  if (isSuccess && route.kind === "record" && (route.returns || status === 304)) names.push("ETag");
  if (status === 201) names.push("Location");
  if ((isSuccess && route.kind === "list") || route.successor) names.push("Link");
  if (isSuccess && isWrite(method)) names.push("Idempotency-Replayed");
  if (route.stability) names.push("X-API-Stability");
  if (route.successor) names.push("Deprecation", "Sunset");
  if (status === 401) names.push("WWW-Authenticate");
  if (status >= 500 || status === 408 || status === 409) names.push("Retry-After");
  if (status >= 400 && status < 500 && status !== 408) names.push("X-Should-Retry");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const conversion = { target: "openapi-3.0", unrepresentable: "any", io: "input" } as const;

/** A shape with a name is one component, wherever it is used. */
function reference(shape: z.ZodType): Json {
  const id = shape.meta()?.id;
  if (!id) throw new Error("A body's shape needs an id.");
  return { $ref: `#/components/schemas/${id}` };
}

function componentSchemas(): Json {
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

function inlineSchema(shape: z.ZodType): unknown {
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
  if (rest.format === "date-time") delete rest.pattern;
  const tidied = Object.entries(rest).map(([key, value]) => [key, tidy(value)]);
  if (properties)
    tidied.push([
      "properties",
      Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, tidy(value)])),
    ]);
  return Object.fromEntries(tidied);
}
