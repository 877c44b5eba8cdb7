import { fileURLToPath } from "node:url";
import { Unavailable } from "../../core/failure.ts";

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

export const consoleHeaders = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** What comes later wins over what comes before. */
const styles = ["base", "frame", "pages", "controls", "lists", "plots", "notices"];

/** The parts of the console, made from the files of its folder: the page, its style, its icon and its script. */
export const consoleParts = {
  page: { type: "text/html; charset=utf-8", make: (folder: URL) => textOf(folder, "index.html") },
  style: {
    type: "text/css; charset=utf-8",
    make: async (folder: URL) =>
      (await Promise.all(styles.map((name) => textOf(folder, `style/${name}.css`)))).join("\n"),
  },
  icon: { type: "image/svg+xml", make: (folder: URL) => textOf(folder, "icon.svg") },
  script: { type: "text/javascript; charset=utf-8", make: scriptOf },
};

function textOf(folder: URL, name: string): Promise<string> {
  return Bun.file(new URL(name, folder)).text();
}

/** Where the script is that was made when the executable was built; from source it is made for the first who asks. */
export const MADE_SCRIPT = "main.js";

async function scriptOf(folder: URL): Promise<string> {
  const made = Bun.file(new URL(MADE_SCRIPT, folder));
  return (await made.exists()) ? made.text() : bundled(folder);
}

/** One script of all modules. A process of its own makes it, because the bundler would keep ten megabytes of this one. */
async function bundled(folder: URL): Promise<string> {
  const bundler = Bun.spawn([process.execPath, "build", "main.ts", "--target=browser", "--minify"], {
    cwd: fileURLToPath(folder),
    // It has no use for our settings, and some of them are secrets.
    env: {},
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
