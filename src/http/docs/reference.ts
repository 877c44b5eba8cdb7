import { everyEndpoint } from "../../contract/api.ts";
import { type ErrorCode, errors } from "../../contract/errors.ts";
import { openapi } from "../../contract/openapi.ts";
import { errorsOf } from "../../contract/owed.ts";
import { type Endpoint, roles, successStatus } from "../../contract/route.ts";
import { type Document, type Header, type Parameter, type Schema, whole } from "./document.ts";

export interface Dates {
  readonly deprecatedAt: number;
  readonly sunsetAt: number;
}

export interface KnownError {
  readonly code: string;
  readonly status: number;
  readonly cause: string;
  readonly remedy: string;
}

/** An operation with everything that the page says about it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly role: string;
  /** Whether roles above this one may call it too. */
  readonly isForHigherRoles: boolean;
  readonly stability: string | undefined;
  readonly successor: string | undefined;
  readonly inPath: readonly Parameter[];
  readonly inQuery: readonly Parameter[];
  /** Headers that it takes and not every other operation takes too. */
  readonly inHeaders: readonly string[];
  readonly body: { readonly schema: string | undefined; readonly example: unknown } | undefined;
  readonly answer: {
    readonly status: number;
    readonly schema: string | undefined;
    readonly example: unknown;
    /** Headers that not every other operation answers with too. */
    readonly headers: readonly string[];
  };
  /** What it refuses by rules of its own. */
  readonly ownErrors: readonly KnownError[];
  /** What it refuses as operations of its kind do; what every operation may refuse is not repeated. */
  readonly kindErrors: readonly KnownError[];
  /** Its path with values in it. */
  readonly sampleTarget: string;
}

export interface Tag {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** Everything that the page shows, as data. */
export interface Reference {
  readonly title: string;
  readonly version: string;
  readonly about: string;
  readonly roles: readonly string[];
  readonly dates: Dates;
  readonly tags: readonly Tag[];
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly errors: readonly KnownError[];
  /** What every operation may refuse. */
  readonly commonErrors: readonly KnownError[];
  readonly requestHeaders: Readonly<Record<string, Header>>;
  readonly answerHeaders: Readonly<Record<string, Header>>;
}

/** The reference of the whole contract. */
export function reference(dates: Dates): Reference {
  const document = whole(openapi(dates));
  const { info, tags, components } = document;
  const common = {
    errors: sharedBy(everyEndpoint.map(errorsOf)),
    taken: sharedBy(everyEndpoint.map((endpoint) => Object.keys(headersTaken(document, endpoint)))),
    given: sharedBy(everyEndpoint.map((endpoint) => Object.keys(headersGiven(document, endpoint)))),
  };
  const byTag = Map.groupBy(everyEndpoint, (endpoint) => inDocument(document, endpoint).tags[0] ?? "");
  return {
    title: info.title,
    version: info.version,
    about: info.description,
    roles,
    dates,
    tags: [...byTag].map(([name, endpoints]) => ({
      name,
      description: tags.find((tag) => tag.name === name)?.description ?? "",
      operations: endpoints.map((each) => operationOf(document, each, common)),
    })),
    schemas: components.schemas,
    errors: (Object.keys(errors) as ErrorCode[]).map(known),
    commonErrors: common.errors.map(known),
    requestHeaders: Object.assign({}, ...everyEndpoint.map((each) => headersTaken(document, each))),
    answerHeaders: Object.assign({}, ...everyEndpoint.map((each) => headersGiven(document, each))),
  };
}

interface Common {
  readonly errors: readonly ErrorCode[];
  readonly taken: readonly string[];
  readonly given: readonly string[];
}

function operationOf(document: Document, endpoint: Endpoint, common: Common): Operation {
  const { id, method, path, route } = endpoint;
  const { parameters, responses } = inDocument(document, endpoint);
  const status = successStatus(route);
  const own = errorsOf(endpoint).filter((code) => route.errors.includes(code));
  const owed = errorsOf(endpoint).filter((code) => !own.includes(code) && !common.errors.includes(code));
  return {
    id,
    method,
    path,
    summary: route.successor ? route.summary.replace(/ \(deprecated\)$/, "") : route.summary,
    description: route.description,
    role: route.role,
    isForHigherRoles: route.role !== roles.at(-1),
    stability: route.stability,
    successor: route.successor,
    inPath: parameters.filter((parameter) => parameter.in === "path"),
    inQuery: parameters.filter((parameter) => parameter.in === "query"),
    inHeaders: without(Object.keys(headersTaken(document, endpoint)), common.taken),
    body: route.body && { schema: route.body.id, example: route.example.body },
    answer: {
      status,
      schema: route.returns?.id,
      example: route.example.returns,
      headers: without(Object.keys(responses[status]?.headers ?? {}), common.given),
    },
    ownErrors: own.map(known),
    kindErrors: owed.map(known),
    sampleTarget: path.replace(/\{(\w+)\}/g, (_, name: string) => sampleOf(name)),
  };
}

function inDocument({ paths }: Document, { path, method }: Endpoint) {
  const operation = paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`The document has no ${method} ${path}.`);
  return operation;
}

function headersTaken(document: Document, endpoint: Endpoint): Record<string, Header> {
  const taken = inDocument(document, endpoint).parameters.filter((parameter) => parameter.in === "header");
  return Object.fromEntries(
    taken.map(({ name, description = "", example }) => [name, { description, example }]),
  );
}

function headersGiven(document: Document, endpoint: Endpoint): Record<string, Header> {
  const responses = Object.values(inDocument(document, endpoint).responses);
  return Object.assign({}, ...responses.map(({ headers }) => headers));
}

/** A value for a path parameter, from the examples of the contract. */
function sampleOf(name: string): string {
  const withIt = everyEndpoint.filter(({ route }) => route.params?.[name]);
  const records = withIt.map(({ route }) => [route.example.returns].flat()[0] as Record<string, unknown>);
  const record = records.find((each) => each?.[name] ?? each?.id);
  return String(record?.[name] ?? record?.id ?? 1);
}

function known(code: ErrorCode): KnownError {
  return { code, ...errors[code] };
}

function sharedBy<T>(lists: readonly (readonly T[])[]): T[] {
  const [first = [], ...rest] = lists;
  return first.filter((each) => rest.every((list) => list.includes(each)));
}

function without<T>(list: readonly T[], left: readonly T[]): T[] {
  return list.filter((each) => !left.includes(each));
}
