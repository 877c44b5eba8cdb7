import { API_VERSION } from "../contract/api.ts";
import type { Page } from "./serve.ts";

/** What is served beside the API: an index, the document, and whether the server lives and is ready. */
export function pages(document: () => object, isReady: () => Promise<boolean>): Record<string, Page> {
  const index = JSON.stringify({
    name: "Petstore",
    version: API_VERSION,
    links: { document: "/openapi.json", documentAsYaml: "/openapi.yaml", live: "/livez", ready: "/readyz" },
  });
  const asJson = once(() => `${JSON.stringify(document(), null, 2)}\n`);
  const asYaml = once(() => `${Bun.YAML.stringify(document(), null, 2)}\n`);
  return {
    "/": () => answer(index),
    "/openapi.json": () => answer(asJson()),
    "/openapi.yaml": () => answer(asYaml(), 200, "application/yaml"),
    "/livez": () => answer('{"status":"live"}'),
    "/readyz": async () =>
      (await isReady()) ? answer('{"status":"ready"}') : answer('{"status":"not ready"}', 503),
  };
}

function answer(body: string, status = 200, type = "application/json"): Response {
  return new Response(body, {
    status,
    headers: { "content-type": type, "cache-control": "no-cache", "x-content-type-options": "nosniff" },
  });
}

function once(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
