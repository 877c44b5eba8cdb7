import { fileURLToPath } from "node:url";
import { Unavailable } from "../../core/failure.ts";
import type { Page, PageAnswer } from "../serve.ts";

/** What a browser may do with the page: run its one script, apply its one style, talk to us, and nothing else. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const headers = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** Makes an answer that stays the same as long as the server runs. */
type Lasting = (body: string, type: string, headers: Record<string, string>) => PageAnswer;

/** The console: a page, its script, its style and its icon, from the files in this folder. */
export function consolePages(
  folder: URL,
  once: (make: () => Promise<PageAnswer>) => Page,
  lasting: Lasting,
): Record<string, Page> {
  const file = (name: string, type: string) =>
    once(async () => lasting(await Bun.file(new URL(name, folder)).text(), type, headers));
  return {
    "/console": file("index.html", "text/html; charset=utf-8"),
    "/console/style.css": file("style.css", "text/css; charset=utf-8"),
    "/console/icon.svg": file("icon.svg", "image/svg+xml"),
    "/console/console.js": once(async () =>
      lasting(await bundled(new URL("main.ts", folder)), "text/javascript; charset=utf-8", headers),
    ),
  };
}

/** One script of all modules. A process of its own makes it, because the bundler would keep ten megabytes of this one. */
async function bundled(entry: URL): Promise<string> {
  const command = [process.execPath, "build", fileURLToPath(entry), "--target=browser", "--minify"];
  const bundler = Bun.spawn(command, {
    cwd: fileURLToPath(new URL(".", entry)),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [script, trouble, code] = await Promise.all([
    new Response(bundler.stdout).text(),
    new Response(bundler.stderr).text(),
    bundler.exited,
  ]);
  if (code !== 0) throw new Unavailable(trouble);
  return script;
}
