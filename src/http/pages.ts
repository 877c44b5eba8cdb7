import { CryptoHasher } from "bun";
import { API_VERSION } from "../contract/api.ts";
import { yamlOf } from "../contract/yaml.ts";
import type { Deprecation } from "./deprecation.ts";
import type { Page, PageAnswer } from "./serve.ts";
import { linesOf } from "./wire/reply.ts";

/** What is served beside the API: an index, the document, the reference, and whether the server lives and is ready. */
export function pages(
  document: () => Promise<object>,
  deprecation: Deprecation,
  isReady: () => Promise<boolean>,
  /** Where the files of the console are, if it is on. */
  consoleFolder: URL | undefined,
): Record<string, Page> {
  const index = JSON.stringify({
    name: "Petstore",
    version: API_VERSION,
    links: {
      docs: "/docs",
      ...(consoleFolder && { console: "/console" }),
      document: "/openapi.json",
      documentAsYaml: "/openapi.yaml",
      forLanguageModels: "/llms.txt",
      live: "/livez",
      ready: "/readyz",
    },
  });
  const docs = async () => {
    const { docsPage, docsPolicy } = await import("./docs/page.ts");
    const headers = { "content-security-policy": docsPolicy, "referrer-policy": "no-referrer" };
    return lasting(docsPage(deprecation), "text/html; charset=utf-8", headers);
  };
  return {
    "/": once(async () => lasting(index)),
    "/openapi.json": once(async () => lasting(`${JSON.stringify(await document(), null, 2)}\n`)),
    "/openapi.yaml": once(async () => lasting(`${yamlOf(await document())}\n`, "application/yaml")),
    "/docs": once(docs),
    "/llms.txt": once(async () =>
      lasting((await import("./docs/llms.ts")).llmsText(deprecation), "text/plain; charset=utf-8"),
    ),
    ...(consoleFolder && consolePages(consoleFolder)),
    "/livez": () => answer('{"status":"live"}'),
    "/readyz": async () =>
      (await isReady()) ? answer('{"status":"ready"}') : answer('{"status":"not ready"}', 503),
  };
}

/** Figures for Prometheus: made anew for whoever looks. */
export function metricsPage(text: () => Promise<string>): Page {
  return async () => answer(await text(), 200, "text/plain; version=0.0.4; charset=utf-8");
}

/** The web page for staff and operators. */
function consolePages(folder: URL): Record<string, Page> {
  const part = (name: "page" | "style" | "icon" | "script") =>
    once(async () => {
      const { consoleHeaders, consoleParts } = await import("./console/pages.ts");
      const { type, make } = consoleParts[name];
      return lasting(await make(folder), type, consoleHeaders);
    });
  return {
    "/console": part("page"),
    // The page names its parts from where it is.
    "/console/": () => ({ status: 308, body: null, headerLines: linesOf({ location: "../console" }) }),
    "/console/style.css": part("style"),
    "/console/icon.svg": part("icon"),
    "/console/console.js": part("script"),
  };
}

/** What stays the same as long as the server runs, with a tag by which a caller knows that it has it already. */
function lasting(body: string, type?: string, more: Record<string, string> = {}): PageAnswer {
  const tag = new CryptoHasher("sha256").update(body).digest("base64url").slice(0, 22);
  return { ...answer(body, 200, type, { etag: `"${tag}"`, ...more }), tag };
}

function answer(
  body: string,
  status = 200,
  type = "application/json",
  more: Record<string, string> = {},
): PageAnswer {
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
  let made: Promise<T> | undefined;
  return () => {
    // Whoever asks meanwhile waits for the same one; what failed is made anew for the next.
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
