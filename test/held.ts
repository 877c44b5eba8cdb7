// What the contract promises of every reply.
import { everyEndpoint } from "../src/contract/api.ts";
import { errors } from "../src/contract/errors.ts";
import { errorsOf } from "../src/contract/owed.ts";
import { type Endpoint, mediaType, successStatus } from "../src/contract/route.ts";
import { problemsOf } from "../src/contract/shape.ts";
import { ErrorBody } from "../src/contract/shapes.ts";
import type { Reply } from "./harness.ts";

/** The five headers that say how the limits stand, and what each looks like. */
const rateHeaders: readonly (readonly [string, RegExp])[] = [
  ["x-ratelimit-limit", /^[1-9]\d*$/],
  ["x-ratelimit-remaining", /^\d+$/],
  ["x-ratelimit-reset", /^[1-9]\d*$/],
  ["ratelimit-policy", /^"minute";q=[1-9]\d*;w=60, "day";q=[1-9]\d*;w=86400$/],
  ["ratelimit", /^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/],
];

/** Every reply of the API keeps its promises: a documented status, a body of its shape, the headers. */
export function holdAgainstContract(method: string, path: string, reply: Reply): void {
  const { pathname } = new URL(path, "http://x");
  const endpoint = endpointAt(method === "HEAD" ? "GET" : method, pathname);
  const complain = (what: string) => {
    throw new Error(`${method} ${path} answered ${reply.status}: ${what}\n${reply.text.slice(0, 500)}`);
  };
  for (const name of ["api-version", "x-request-id"])
    if (!reply.headers.get(name)) complain(`no ${name} header`);
  for (const [name, form] of rateHeaders) {
    const value = reply.headers.get(name);
    if (!value || !form.test(value)) complain(`the ${name} header is ${value}`);
  }
  if (reply.status >= 400 && method !== "HEAD") {
    const problems = problemsOf(ErrorBody, reply.body);
    if (problems.length > 0) complain(`not an Error: ${JSON.stringify(problems)}`);
    const { code, status } = reply.body;
    if (status !== reply.status || errors[code as keyof typeof errors]?.status !== status)
      complain(`code ${code} with status ${status}`);
    if (endpoint && code !== "not_found" && !errorsOf(endpoint).includes(code))
      complain(`${endpoint.id} does not document ${code}`);
  }
  if (!endpoint || reply.status >= 400) return;
  const isNotModified = reply.status === 304 && method !== "POST" && endpoint.route.kind === "record";
  if (reply.status !== successStatus(endpoint.route) && !isNotModified)
    complain(`${endpoint.id} does not document this status`);
  if (endpoint.route.kind === "record" && endpoint.route.returns && !reply.headers.get("etag"))
    complain("no ETag");
  if (endpoint.route.kind === "list" && !reply.headers.get("link")) complain("no Link");
  const type = reply.headers.get("content-type");
  if (endpoint.route.returns && !isNotModified && type !== mediaType(endpoint.route))
    complain(`it is ${type}`);
  if (endpoint.route.kind === "stream") return;
  if (method === "HEAD" || !endpoint.route.returns || isNotModified) {
    if (reply.text !== "") complain("a body where there is none");
    return;
  }
  const problems = problemsOf(endpoint.route.returns, reply.body);
  if (problems.length > 0) complain(`not the shape that it returns: ${JSON.stringify(problems)}`);
}

/** The endpoint that answers at a path: the most exact pattern has the path, whatever its methods. */
export function endpointAt(method: string, pathname: string): Endpoint | undefined {
  const found = paths.find(({ pattern }) => pattern.test(pathname));
  return found?.endpoints.find((each) => each.method === method);
}

/** Every path of the contract, the most exact first. */
const paths = [...Map.groupBy(everyEndpoint, ({ path }) => path)]
  .map(([path, endpoints]) => ({
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
    endpoints,
    holes: path.split("{").length,
  }))
  .sort((a, b) => a.holes - b.holes);
