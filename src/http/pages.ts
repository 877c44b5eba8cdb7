import { API_VERSION } from "../contract/api.ts";
import type { Deprecation } from "./deprecation.ts";
import { docsPage, docsPolicy } from "./docs/page.ts";
import type { Page } from "./serve.ts";

/** What is served beside the API: an index, the document, the reference, and whether the server lives and is ready. */
export function pages(
  document: () => object,
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
  const asJson = once(() => `${JSON.stringify(document(), null, 2)}\n`);
  const asHtml = once(() => docsPage(deprecation));
  const asYaml = once(() => `${Bun.YAML.stringify(document(), null, 2)}\n`);
  return {
    "/": () => answer(index),
    "/openapi.json": () => answer(asJson()),
    "/openapi.yaml": () => answer(asYaml(), 200, "application/yaml"),
    "/docs": () => answer(asHtml(), 200, "text/html; charset=utf-8", docsHeaders),
    "/livez": () => answer('{"status":"live"}'),
    "/readyz": async () =>
      (await isReady()) ? answer('{"status":"ready"}') : answer('{"status":"not ready"}', 503),
  };
}

const docsHeaders = { "content-security-policy": docsPolicy, "referrer-policy": "no-referrer" };

function answer(
  body: string,
  status = 200,
  type = "application/json",
  more: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: {
      "content-type": type,
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      ...more,
    },
  });
}

function once(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
