import { API_VERSION, everyEndpoint } from "./api.ts";
import { type ErrorCode, errors } from "./errors.ts";
import { errorsOf } from "./owed.ts";
import { type Endpoint, isWrite, mediaType, successStatus, takesIfNoneMatch } from "./route.ts";
import type { Json } from "./shape.ts";
import { ErrorBody } from "./shapes.ts";

/** Every status that an endpoint answers with: body, headers, links. */
export function responsesOf(endpoint: Endpoint, shared: Json): Json {
  const { id, method, route } = endpoint;
  const responses: Json = {};
  const success = successStatus(route);
  responses[success] = {
    description: success === 201 ? "Created." : success === 204 ? "Done; there is no body." : "The answer.",
    headers: headersOf(endpoint, success),
    ...(route.returns && { content: { [mediaType(route)]: contentOf(endpoint) } }),
    ...linksOf(id, route.location),
  };
  if (takesIfNoneMatch(method, route)) {
    responses[304] = {
      description: "The record still has the ETag of `If-None-Match`.",
      headers: headersOf(endpoint, 304),
    };
  }
  const byStatus = Map.groupBy(errorsOf(endpoint), (code) => errors[code].status as number);
  for (const [status, codes] of byStatus) responses[status] = errorResponse(endpoint, status, codes, shared);
  return responses;
}

/** OpenAPI 3.0 has no words for server-sent events: a text, and in it the shape of their data. */
function contentOf({ route: { kind, returns, example } }: Endpoint): Json {
  if (kind !== "stream") return { schema: returns?.schema, example: example.returns };
  const description = `Server-sent events; the data of each is a \`${returns?.id}\`.`;
  const { id, type } = example.returns as { id: string; type: string };
  return {
    schema: { type: "string", description },
    example: `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(example.returns)}\n\n`,
  };
}

/** The codes of one status; what many endpoints share is written once, as a component. */
function errorResponse(endpoint: Endpoint, status: number, codes: readonly ErrorCode[], shared: Json): Json {
  const response = {
    description: codes
      .map((code) => `\`${code}\`: ${errors[code].cause} ${errors[code].remedy}`)
      .join("\n\n"),
    headers: headersOf(endpoint, status),
    content: {
      "application/json": {
        schema: ErrorBody.schema,
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
  if (codes.some((code) => endpoint.route.errors.includes(code))) return response;
  const name = sharedName(endpoint, status);
  if (shared[name] && JSON.stringify(shared[name]) !== JSON.stringify(response))
    throw new Error(`Two responses are called ${name}.`);
  shared[name] = response;
  return { $ref: `#/components/responses/${name}` };
}

function sharedName({ route }: Endpoint, status: number): string {
  const marker = route.successor ? "-deprecated" : route.stability ? `-${route.stability}` : "";
  const kinds: Record<number, string> = {
    400: route.body ? "-body" : "",
    403: route.role === "customer" ? "" : `-${route.role}`,
    422: route.body ? "-body" : "",
  };
  return `${status}${kinds[status] ?? ""}${marker}`;
}

/** An example of every error that an operation gives. */
export function errorExamples(): Json {
  const given = new Set(everyEndpoint.flatMap(errorsOf));
  const examples = [...given].map((code) => {
    const { status, cause } = errors[code];
    return [code, { summary: cause, value: { code, message: cause, status } }];
  });
  return Object.fromEntries(examples);
}

/** From a creation to what can be done with the new record. */
function linksOf(id: string, location: string | undefined): Json {
  if (!location) return {};
  const related = everyEndpoint.filter(({ path }) => path.replace(/\{\w+\}$/, "{id}") === location);
  if (related.length === 0) throw new Error(`The Location of ${id} is no path of the contract.`);
  const links = related.map(({ id: operationId, route }) => {
    const names = Object.keys(route.params ?? {});
    const parameters = names.map((name, at) => {
      const field = at === names.length - 1 ? "id" : name;
      return [name, `$response.body#/${field}`];
    });
    return [operationId.replace(".", "-"), { operationId, parameters: Object.fromEntries(parameters) }];
  });
  return { links: Object.fromEntries(links) };
}

/** Every header of a response. */
export const headerComponents: Record<string, Json> = {
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
    '</pets?cursor=WyJwZXRzLmlkIiw3LDdd>; rel="next"',
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
  "X-RateLimit-Limit": headerOf("Requests that the tighter window takes.", "60"),
  "X-RateLimit-Remaining": headerOf("Requests left in the tighter window.", "59"),
  "X-RateLimit-Reset": headerOf("When the tighter window ends, in Unix seconds.", "1794744060"),
  "RateLimit-Policy": headerOf(
    "Both windows: requests and seconds.",
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  RateLimit: headerOf(
    "Both windows: requests left and seconds until the end.",
    '"minute";r=59;t=60, "day";r=999;t=43200',
  ),
  "Preference-Applied": headerOf("The rehearsal that this answer is.", "simulate=rate_limit"),
  "WWW-Authenticate": headerOf("How to present a key.", 'Bearer realm="petstore"'),
};

const rateHeaders = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
];

function headerOf(description: string, example: string): Json {
  return { description, schema: { type: "string" }, example };
}

function headersOf({ method, route }: Endpoint, status: number): Json {
  const names = ["API-Version", "X-Request-Id", "Cache-Control", ...rateHeaders];
  const isSuccess = status < 400;
  if (isSuccess && route.kind === "record" && (route.returns || status === 304)) names.push("ETag");
  if (status === 201 && route.location) names.push("Location");
  if ((isSuccess && route.kind === "list") || route.successor) names.push("Link");
  if (isSuccess && isWrite(method)) names.push("Idempotency-Replayed");
  if (route.stability) names.push("X-API-Stability");
  if (route.successor) names.push("Deprecation", "Sunset");
  if (status === 401) names.push("WWW-Authenticate");
  if (status >= 500 || [403, 408, 409, 429].includes(status)) names.push("Retry-After");
  if ([403, 409, 410, 429, 503].includes(status)) names.push("Preference-Applied");
  if (status >= 400 && status < 500 && status !== 408) names.push("X-Should-Retry");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
