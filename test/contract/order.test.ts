import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { type ErrorCode, errors } from "../../src/contract/errors.ts";
import { type Endpoint, isWrite } from "../../src/contract/route.ts";
import { BODY_BYTES, LARGE_BODY_BYTES } from "../../src/http/body.ts";
import { aStore, type Person } from "../harness.ts";
import { each, refused, refusedCalls, theStore } from "./calls.ts";
import { chunk, type RawRequest, raw, rawHeaders } from "./raw.ts";

const store = theStore();
const call = refusedCalls(store);
const USED_KEY = "used-for-a-draft";

/** A request that a fault spoils. */
interface Spoiled {
  method: string;
  path: string;
  query: string;
  headers: Map<string, string>;
  body: string | undefined;
}

interface Fault {
  readonly code: (endpoint: Endpoint) => ErrorCode;
  readonly concerns: (endpoint: Endpoint) => boolean;
  readonly spoil: (request: Spoiled, endpoint: Endpoint) => void;
}

const hasBody = ({ route }: Endpoint) => route.body !== undefined;

/** What can be wrong with a request, in the documented order of the checks. */
const faults: readonly Fault[] = [
  {
    code: () => "missing_api_key",
    concerns: () => true,
    spoil: ({ headers }) => headers.delete("X-API-Key"),
  },
  {
    code: () => "unsupported_version",
    concerns: () => true,
    spoil: ({ headers }) => headers.set("API-Version", "2"),
  },
  {
    code: () => "not_acceptable",
    concerns: () => true,
    spoil: ({ headers }) => headers.set("Accept", "text/html"),
  },
  {
    code: () => "forbidden",
    concerns: ({ route }) => route.role !== "customer",
    spoil: ({ headers }) => headers.has("X-API-Key") && headers.set("X-API-Key", store.customer.key),
  },
  {
    code: () => "body_too_large",
    concerns: hasBody,
    spoil: ({ headers }, { route }) =>
      headers.set("Content-Length", String((route.large ? LARGE_BODY_BYTES : BODY_BYTES) + 1)),
  },
  {
    code: () => "unsupported_media_type",
    concerns: hasBody,
    spoil: ({ headers }) => headers.set("Content-Type", "text/plain"),
  },
  {
    code: () => "invalid_json",
    concerns: hasBody,
    spoil: (request) => {
      request.body = "{";
    },
  },
  {
    code: () => "invalid_parameter",
    concerns: () => true,
    spoil: (request) => {
      request.query = "?colour=red";
    },
  },
  {
    code: () => "idempotency_key_reused",
    concerns: ({ method }) => isWrite(method),
    spoil: ({ headers }) => headers.set("Idempotency-Key", USED_KEY),
  },
  {
    code: () => "invalid_body",
    concerns: hasBody,
    spoil: (request) => {
      if (request.body !== "{") request.body = '{"colour":"red"}';
    },
  },
  {
    code: ({ route }) => route.errors.find((code) => errors[code].status === 404) as ErrorCode,
    concerns: ({ route }) => route.params !== undefined,
    spoil: (request) => {
      request.path = request.path.replace(/\d+/, "9007199254740993");
    },
  },
];

/** The endpoint's request with all of these faults. */
async function spoiled(endpoint: Endpoint, wrong: readonly Fault[]): Promise<RawRequest> {
  const { method, path, by, ...known } = await call(endpoint);
  expect((await by.post("/store/orders", {}, { "idempotency-key": USED_KEY })).status).toBe(201);
  const request: Spoiled = {
    method,
    path,
    query: "",
    headers: new Map(rawHeaders(by.key)),
    body: known.body === undefined ? undefined : JSON.stringify(known.body),
  };
  for (const fault of wrong) fault.spoil(request, endpoint);
  const { headers, body } = request;
  if (body !== undefined) {
    if (!headers.has("Content-Type")) headers.set("Content-Type", "application/json");
    if (!headers.has("Content-Length")) headers.set("Content-Length", String(Buffer.byteLength(body)));
  }
  const sent = { method: request.method, path: request.path + request.query, headers: [...headers] };
  return body === undefined ? sent : { ...sent, body };
}

each(everyEndpoint, "names the first of many faults, in the documented order", async (endpoint) => {
  const possible = faults.filter(({ concerns }) => concerns(endpoint));
  for (const [first, fault] of possible.entries()) {
    const request = await spoiled(endpoint, possible.slice(first));
    await refused(store, fault.code(endpoint), () => raw(store.url, request));
  }
});

each(everyEndpoint, "names each fault when it is the only one", async (endpoint) => {
  for (const fault of faults.filter(({ concerns }) => concerns(endpoint))) {
    const request = await spoiled(endpoint, [fault]);
    await refused(store, fault.code(endpoint), () => raw(store.url, request));
  }
});

/** A key of a client that has spent its minute. */
async function aSpentPerson(): Promise<Person> {
  const person = await store.newPerson("admin", { quota: { perMinute: 1, perDay: 10 } });
  expect((await person.get("/pets")).status).toBe(200);
  return person;
}

async function ban({ keyId }: Person): Promise<void> {
  expect((await store.admin.put(`/admin/keys/${keyId}/ban`, { minutes: 5 })).status).toBe(200);
}

each(
  everyEndpoint.filter(({ route }) => !route.uncounted),
  "is refused for a ban, then for the limit, whatever else is wrong",
  async (endpoint) => {
    const keyFaults: readonly ErrorCode[] = ["missing_api_key", "forbidden"];
    const rest = faults.filter(
      ({ code, concerns }) => concerns(endpoint) && !keyFaults.includes(code(endpoint)),
    );
    const request = await spoiled(endpoint, rest);
    const spent = await aSpentPerson();
    const headers = [
      ...request.headers.filter(([name]) => name !== "X-API-Key"),
      ["X-API-Key", spent.key] as const,
    ];
    await refused(store, "rate_limit_exceeded", () => raw(store.url, { ...request, headers }));
    await ban(spent);
    await refused(store, "key_banned", () => raw(store.url, { ...request, headers }));
  },
);

test("a ban, then the limit, come before an unknown path and a wrong method", async () => {
  const spent = await aSpentPerson();
  await refused(store, "rate_limit_exceeded", () => spent.get("/nothing"));
  await refused(store, "rate_limit_exceeded", () => spent.delete("/pets"));
  await ban(spent);
  await refused(store, "key_banned", () => spent.get("/nothing"));
  await refused(store, "key_banned", () => spent.delete("/pets"));
});

test("the limit of the network address comes before an unknown path, a wrong method and a missing key", async () => {
  await using limited = await aStore({ ANONYMOUS_PER_MINUTE: "3" });
  await refused(limited, "not_found", () => limited.nobody.get("/nothing"));
  await refused(limited, "method_not_allowed", () => limited.nobody.delete("/pets"));
  await refused(limited, "missing_api_key", () => limited.nobody.get("/pets"));
  for (const [method, path] of [
    ["GET", "/nothing"],
    ["DELETE", "/pets"],
    ["GET", "/pets"],
  ] as const)
    await refused(limited, "rate_limit_exceeded", () => limited.nobody.send(method, path));
  expect((await limited.customer.get("/pets")).status).toBe(200);
});

test("the size of a body comes before its media type if it is told; in chunks it is not known before it has come", async () => {
  const own: [string, string][] = [
    ["X-API-Key", store.staff.key],
    ["Content-Type", "text/plain"],
  ];
  const request = { method: "POST", path: "/categories" };
  const told: [string, string][] = [...own, ["Content-Length", String(BODY_BYTES + 1)]];
  await refused(store, "body_too_large", () => raw(store.url, { ...request, headers: told }));
  const chunked: [string, string][] = [...own, ["Transfer-Encoding", "chunked"]];
  const body = chunk(" ".repeat(BODY_BYTES + 1));
  await refused(store, "unsupported_media_type", () =>
    raw(store.url, { ...request, headers: chunked, body }),
  );
});

test("an unknown path and a wrong method come before the key, the version and the body", async () => {
  const headers = { "api-version": "2", accept: "text/html", "content-type": "text/plain" };
  const sent = { raw: "{", headers };
  await refused(store, "not_found", () => store.nobody.send("POST", "/nothing?colour=red", sent));
  await refused(store, "method_not_allowed", () => store.nobody.send("DELETE", "/pets?colour=red", sent));
});

test("the sunset comes after the version and before everything that is asked of the operation", async () => {
  const noon = store.clock.now;
  store.clock.now = store.config.petGetSunsetAt;
  const get = (headers: Record<string, string>) => store.customer.get("/pets/seven?colour=red", headers);
  await refused(store, "unsupported_version", () => get({ "api-version": "2", accept: "text/html" }));
  await refused(store, "not_acceptable", () => get({ accept: "text/html" }));
  await refused(store, "operation_sunset", () => get({}));
  await refused(store, "missing_api_key", () => store.nobody.get("/pets/seven"));
  store.clock.now = noon;
});
