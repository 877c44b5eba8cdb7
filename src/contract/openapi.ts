import { API_VERSION, everyEndpoint } from "./api.ts";
import { isoDay } from "./days.ts";
import { errorExamples, headerComponents, responsesOf } from "./responses.ts";
import { type Endpoint, isWrite, takesIfMatch, takesIfNoneMatch } from "./route.ts";
import { componentSchemas, type Json, type Shapes } from "./shape.ts";

/** The dates that the document tells of. */
export interface DocumentDates {
  readonly sunsetAt: number;
}

/** The OpenAPI 3.0.3 document of the whole contract. */
export function openapi({ sunsetAt }: DocumentDates): Json {
  const paths: Record<string, Json> = {};
  const shared: Json = {};
  for (const endpoint of everyEndpoint) {
    paths[endpoint.path] ??= {};
    (paths[endpoint.path] as Json)[endpoint.method.toLowerCase()] = operationOf(endpoint, sunsetAt, shared);
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
      responses: Object.fromEntries(Object.entries(shared).sort(([a], [b]) => (a < b ? -1 : 1))),
      examples: errorExamples(),
      parameters: headerParameters,
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
  { name: "account", description: "The caller's own client: who it is, its limits, usage and keys." },
  { name: "admin", description: "Clients, keys, bans, usage and the audit trail, for the operator." },
  { name: "events", description: "What happened in the store, in order." },
  { name: "webhooks", description: "Addresses that events are sent to, and what became of each." },
  { name: "store", description: "Pets with category and stock, orders, inventory." },
];

function operationOf(endpoint: Endpoint, sunsetAt: number, shared: Json): Json {
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
      "x-deprecated-sunset": isoDay(sunsetAt),
    }),
    ...(route.stability && { "x-stability": route.stability }),
    parameters: parametersOf(endpoint),
    ...(route.body && { requestBody: requestBodyOf(endpoint) }),
    responses: responsesOf(endpoint, shared),
  };
}

function tagOf(path: string): string {
  return path.split("/")[1] as string;
}

function parametersOf({ method, route }: Endpoint): Json[] {
  const headers = ["API-Version", "Prefer", "X-Request-Id"];
  if (isWrite(method)) headers.push("Idempotency-Key");
  if (takesIfMatch(method, route)) headers.push("If-Match");
  if (takesIfNoneMatch(method, route)) headers.push("If-None-Match");
  if (route.kind === "stream") headers.push("Last-Event-ID");
  return [
    ...parametersIn("path", route.params ?? {}),
    ...parametersIn("query", route.query ?? {}),
    ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

const headerParameters = {
  "API-Version": header("API-Version", "The version of the API: 1, 1.0 or 1.0.0.", API_VERSION),
  Prefer: header(
    "Prefer",
    "A rehearsal: `simulate=` rate_limit, daily_quota, ban, unavailable, and where it can happen sunset or insufficient_stock, answers as the real thing would and changes nothing. Other preferences are ignored.",
    "simulate=rate_limit",
  ),
  "X-Request-Id": header(
    "X-Request-Id",
    "An id of your own, 1 to 128 characters; the answer repeats it.",
    "shop-4711",
  ),
  "Idempotency-Key": header(
    "Idempotency-Key",
    "Makes a repetition safe: the same key within 24 hours gives the first answer again, without the secret if it showed one.",
    "5b6c0d0e-1f7a-4d0b-9a52-0d4f9f6f3c11",
  ),
  "If-Match": header("If-Match", "The write is done only if the record still has this ETag.", '"p3"'),
  "Last-Event-ID": header("Last-Event-ID", "The stream goes on after the event with this id.", "41"),
  "If-None-Match": header("If-None-Match", "304 if the record still has this ETag.", '"p3"'),
};

function parametersIn(place: "path" | "query", shapes: Shapes): Json[] {
  return Object.entries(shapes).map(([name, shape]) => {
    const { description, ...schema } = shape.schema;
    return { name, in: place, required: place === "path", description, schema };
  });
}

function header(name: string, description: string, example: string): Json {
  return { name, in: "header", required: false, description, schema: { type: "string" }, example };
}

function requestBodyOf({ method, route }: Endpoint): Json {
  const content = { schema: route.body?.schema, example: route.example.body };
  return {
    required: true,
    content: {
      "application/json": content,
      ...(method === "PATCH" && { "application/merge-patch+json": content }),
    },
  };
}
