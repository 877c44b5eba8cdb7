import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../src/config.ts";
import { everyEndpoint } from "../src/contract/api.ts";
import { errors } from "../src/contract/errors.ts";
import { openapi } from "../src/contract/openapi.ts";
import { errorsOf } from "../src/contract/owed.ts";
import {
  type Endpoint,
  isWrite,
  mediaType,
  successStatus,
  takesIfMatch,
  takesIfNoneMatch,
} from "../src/contract/route.ts";
import { problemsOf } from "../src/contract/shape.ts";
import { ErrorBody } from "../src/contract/shapes.ts";
import { aStore, type TestStore } from "./harness.ts";

// biome-ignore lint/suspicious/noExplicitAny: a document is read as deep as a test needs
type Node = any;

const LINT_MS = 180_000;
const rateHeaders = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
];
const document: Node = openapi({ sunsetAt: readConfig({}).petGetSunsetAt });
let store: TestStore;
let folder: string;

beforeAll(async () => {
  store = await aStore();
  folder = mkdtempSync(join(tmpdir(), "petstore-document-"));
  await Bun.write(join(folder, "openapi.json"), await (await fetch(`${store.url}/openapi.json`)).text());
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await store.stop();
});

/** What a reference points at, or the node itself. */
function resolved(node: Node): Node {
  if (typeof node?.$ref !== "string") return node;
  const path: string[] = node.$ref.replace(/^#\//, "").split("/");
  const found = path.reduce((at, step) => at?.[step.replaceAll("~1", "/").replaceAll("~0", "~")], document);
  if (found === undefined) throw new Error(`${node.$ref} points at nothing.`);
  return resolved(found);
}

function operationOf({ path, method }: Endpoint): Node {
  return document.paths[path][method.toLowerCase()];
}

function parametersOf(endpoint: Endpoint): Node[] {
  return (operationOf(endpoint).parameters ?? []).map(resolved);
}

/** The examples of a body, one or several. */
// biome-ignore lint/suspicious/noExplicitAny: an example is of any shape
function examplesOf(content: Node): any[] {
  const { example, examples = {} } = content;
  const several = Object.values(examples).map((each) => resolved(each).value);
  return example === undefined ? several : [example, ...several];
}

/** Runs a linter without the network: what it says, and whether it found nothing. */
async function linted(program: string, ...args: string[]): Promise<{ exitCode: number; said: string }> {
  const linter = Bun.spawn(
    ["node", `node_modules/.bin/${program}`, "lint", join(folder, "openapi.json"), ...args],
    {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        CI: "true",
        NO_COLOR: "1",
        REDOCLY_TELEMETRY: "off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
        SCARF_ANALYTICS: "false",
      },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const said = await Promise.all([linter.stdout, linter.stderr].map((stream) => new Response(stream).text()));
  return { exitCode: await linter.exited, said: said.join("\n") };
}

test("the document is OpenAPI 3.0.3 of version 1.0.0", () => {
  expect([document.openapi, document.info.version]).toEqual(["3.0.3", "1.0.0"]);
});

test("the document has every endpoint of the contract and nothing else", () => {
  const documented = Object.entries<Node>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Node>(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
  );
  expect(documented.sort()).toEqual(
    everyEndpoint.map(({ id, method, path }) => `${id} ${method.toLowerCase()} ${path}`).sort(),
  );
});

test(
  "Redocly's recommended rules find nothing in the document",
  async () => {
    const { exitCode, said } = await linted("redocly", "--config=test/lint/redocly.yaml", "--format=json");
    const report = JSON.parse(/\{\s*"totals".*\n\}/s.exec(said)?.[0] ?? '{"problems":["no report"]}');
    expect(report.problems).toEqual([]);
    expect(report.totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 });
    expect(exitCode).toBe(0);
  },
  LINT_MS,
);

test(
  "Spectral's rules for OpenAPI find nothing in the document",
  async () => {
    const ruleset = ["--ruleset=test/lint/spectral.yaml", "--fail-severity=hint", "--format=json", "--quiet"];
    const { exitCode, said } = await linted("spectral", ...ruleset);
    expect(JSON.parse(/\[.*\]/s.exec(said)?.[0] ?? '["no report"]')).toEqual([]);
    expect(exitCode).toBe(0);
  },
  LINT_MS,
);

test("the server gives the document as JSON and as YAML", async () => {
  const [json, yaml] = await Promise.all(
    ["/openapi.json", "/openapi.yaml"].map((path) => fetch(store.url + path)),
  );
  expect(json?.headers.get("content-type")).toBe("application/json");
  expect(yaml?.headers.get("content-type")).toBe("application/yaml");
  const [fromJson, fromYaml] = [await json?.json(), Bun.YAML.parse((await yaml?.text()) ?? "")];
  expect(fromJson).toEqual(JSON.parse(JSON.stringify(document)));
  expect(fromYaml).toEqual(fromJson);
});

test("a server with another sunset date documents that one", async () => {
  await using moved = await aStore({ PET_GET_SUNSET_AT: "2030-01-31T12:00:00Z" });
  const served: Node = await (await fetch(`${moved.url}/openapi.json`)).json();
  expect(served.paths["/pets/{petId}"].get["x-deprecated-sunset"]).toBe("2030-01-31");
});

test("every tag that an operation has is described", () => {
  const described = new Set(document.tags.map(({ name, description }: Node) => description && name));
  for (const endpoint of everyEndpoint)
    for (const tag of operationOf(endpoint).tags) expect(described.has(tag)).toBe(true);
});

test("every reference points at something, and every component is used", () => {
  const used = new Set<string>();
  const walk = (node: Node): void => {
    if (typeof node !== "object" || node === null) return;
    if (typeof node.$ref === "string") {
      used.add(node.$ref);
      resolved(node);
    }
    Object.values(node).forEach(walk);
  };
  walk(document);
  for (const kind of ["responses", "parameters", "headers"])
    for (const name of Object.keys(document.components[kind] ?? {}))
      expect(used).toContain(`#/components/${kind}/${name}`);
});

for (const endpoint of everyEndpoint) {
  const { id, method, route } = endpoint;
  const operation = operationOf(endpoint);
  const success = successStatus(route);

  test(`${id} is documented with a tag, a summary and the role that it needs`, () => {
    expect(operation.tags).toHaveLength(1);
    expect(operation.summary).toBe(route.summary);
    expect(operation.description).toContain(`\`${route.role}\``);
  });

  test(`${id} documents exactly the statuses that it can give`, () => {
    const isConditional = takesIfNoneMatch(method, route);
    const statuses = [
      success,
      ...(isConditional ? [304] : []),
      ...errorsOf(endpoint).map((code) => errors[code].status),
    ];
    expect(Object.keys(operation.responses).sort()).toEqual([...new Set(statuses)].map(String).sort());
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["401", "500", "503"]));
  });

  test(`${id} documents each error with its code and an Error that says it`, () => {
    for (const code of errorsOf(endpoint)) {
      const response = resolved(operation.responses[errors[code].status]);
      expect(response.description).toContain(`\`${code}\``);
      const content = response.content["application/json"];
      expect(content.schema).toEqual({ $ref: "#/components/schemas/Error" });
      const example = examplesOf(content).find((each) => (each as Node).code === code);
      expect(problemsOf(ErrorBody, example)).toEqual([]);
      expect((example as Node).status).toBe(errors[code].status);
    }
  });

  test(`${id} shows an example of what it takes and gives, and both are valid`, () => {
    if (route.body) {
      for (const [type, content] of Object.entries<Node>(operation.requestBody.content)) {
        expect(["application/json", "application/merge-patch+json"]).toContain(type);
        expect(examplesOf(content).length).toBeGreaterThan(0);
        for (const example of examplesOf(content)) expect(problemsOf(route.body, example)).toEqual([]);
      }
      expect("application/merge-patch+json" in operation.requestBody.content).toBe(method === "PATCH");
      expect(operation.requestBody.required).toBe(true);
    } else expect(operation.requestBody).toBeUndefined();
    const answer = resolved(operation.responses[success]);
    if (!route.returns) return expect(answer.content).toBeUndefined();
    const examples = examplesOf(answer.content[mediaType(route)]);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const told = route.kind === "stream" ? JSON.parse(example.match(/^data: (.*)$/m)?.[1]) : example;
      expect(problemsOf(route.returns, told)).toEqual([]);
    }
  });

  test(`${id} documents its parameters, and the headers that it understands`, () => {
    const named = (place: string) =>
      parametersOf(endpoint)
        .filter((each) => each.in === place)
        .map(({ name }) => name)
        .sort();
    expect(named("path")).toEqual(Object.keys(route.params ?? {}).sort());
    expect(named("query")).toEqual(Object.keys(route.query ?? {}).sort());
    const headers = ["API-Version", "Prefer", "X-Request-Id"];
    if (isWrite(method)) headers.push("Idempotency-Key");
    if (takesIfMatch(method, route)) headers.push("If-Match");
    if (takesIfNoneMatch(method, route)) headers.push("If-None-Match");
    expect(named("header")).toEqual(expect.arrayContaining(headers));
    for (const { description, schema, example, in: place } of parametersOf(endpoint)) {
      expect(description).toBeString();
      expect(schema).toBeObject();
      if (place === "header") expect(example).toBeDefined();
    }
  });

  test(`${id} documents how stable it is, and until when it works`, () => {
    expect(operation["x-stability"]).toBe(route.stability);
    expect(operation.deprecated).toBe(route.successor ? true : undefined);
    expect(operation["x-deprecated-sunset"]).toBe(route.successor ? "2027-11-30" : undefined);
  });

  test(`${id} documents the headers of its answers`, () => {
    for (const [status, each] of Object.entries<Node>(operation.responses)) {
      const headers = Object.keys(resolved(each).headers ?? {});
      expect(headers).toEqual(expect.arrayContaining(["API-Version", "X-Request-Id", ...rateHeaders]));
      if (status === "401") expect(headers).toContain("WWW-Authenticate");
      if (["403", "429", "503"].includes(status)) expect(headers).toContain("Retry-After");
      if (["403", "429", "503"].includes(status)) expect(headers).toContain("Preference-Applied");
      expect(headers.includes("Location")).toBe(status === "201" && route.location !== undefined);
      if (route.stability) expect(headers).toContain("X-API-Stability");
      if (route.successor) expect(headers).toEqual(expect.arrayContaining(["Deprecation", "Sunset", "Link"]));
    }
  });

  if (route.location) {
    test(`${id} links the new record to the operations that read and change it`, () => {
      const { links } = resolved(operation.responses[201]);
      const targets = Object.values<Node>(links ?? {}).map((link) => {
        const { operationId, parameters } = resolved(link);
        const target = everyEndpoint.find((each) => each.id === operationId);
        expect(Object.keys(parameters)).toEqual(Object.keys(target?.route.params ?? {}));
        const [last, ...before] = Object.entries(parameters).reverse();
        expect(last?.[1]).toBe("$response.body#/id");
        for (const [name, field] of before) expect(field).toBe(`$response.body#/${name}`);
        return target;
      });
      const read = targets.find((target) => target?.method === "GET");
      expect(read?.path.replace(/\{\w+\}$/, "{id}")).toBe(route.location as string);
    });
  }
}
