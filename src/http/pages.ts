import { API_VERSION } from "../contract/api.ts";
import { yamlOf } from "../contract/yaml.ts";
import type { Answer } from "./answer.ts";
import type { Deprecation } from "./deprecation.ts";
import type { Page } from "./serve.ts";
import { linesOf } from "./wire/reply.ts";

/** What is served beside the API: an index, the document, the reference, and whether the server lives and is ready. */
export function pages(
  document: () => Promise<object>,
  deprecation: Deprecation,
  isReady: () => Promise<boolean>,
): Record<string, Page> {
  const index = JSON.stringify({
    name: "Petstore",
    version: API_VERSION,
    links: {
      docs: "/docs",
      document: "/openapi.json",
      documentAsYaml: "/openapi.yaml",
      live: "/livez",
      ready: "/readyz",
    },
  });
  const asJson = once(async () => `${JSON.stringify(await document(), null, 2)}\n`);
  const asYaml = once(async () => `${yamlOf(await document())}\n`);
  const docs = once(async () => {
    const { docsPage, docsPolicy } = await import("./docs/page.ts");
    return { page: docsPage(deprecation), policy: docsPolicy };
  });
  return {
    "/": () => answer(index),
    "/openapi.json": async () => answer(await asJson()),
    "/openapi.yaml": async () => answer(await asYaml(), 200, "application/yaml"),
    "/docs": async () => {
      const { page, policy } = await docs();
      const headers = { "content-security-policy": policy, "referrer-policy": "no-referrer" };
      return answer(page, 200, "text/html; charset=utf-8", headers);
    },
    "/livez": () => answer('{"status":"live"}'),
    "/readyz": async () =>
      (await isReady()) ? answer('{"status":"ready"}') : answer('{"status":"not ready"}', 503),
  };
}

function answer(
  body: string,
  status = 200,
  type = "application/json",
  more: Record<string, string> = {},
): Answer {
  return {
    status,
    body,
    headerLines: linesOf({
      "content-type": type,
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      ...more,
    }),
  };
}

/** Few ask for these pages: they are made, and their code is loaded, for the first who does. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: T | undefined;
  return async () => {
    made ??= await make();
    return made;
  };
}
