import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BunPlugin } from "bun";
import { aStore, type TestStore } from "../harness.ts";
import { aProject, bin, type Project, runBeside } from "./packed.ts";
import { expected } from "./smoke.ts";

const CHROMIUM_MS = 60_000;
let project: Project;

beforeAll(async () => {
  project = await aProject();
  const suite = [...new Bun.Glob("suite/*.test.ts").scanSync(import.meta.dir)];
  await Bun.build({
    entrypoints: [...suite, "smoke.ts"].map((path) => join(import.meta.dir, path)),
    root: import.meta.dir,
    outdir: project.folder,
    target: "node",
    plugins: [builtClient],
  });
  const lines = 'import { smoke } from "#smoke";\nconsole.log(JSON.stringify(await smoke(URL_, KEY)));\n';
  const program = (env: string) =>
    lines.replace("URL_", `${env}("PETSTORE_URL")`).replace("KEY", `${env}("PETSTORE_KEY")`);
  await Bun.write(join(project.folder, "node.js"), program("((name) => process.env[name])"));
  await Bun.write(join(project.folder, "deno.js"), program("Deno.env.get"));
});
afterAll(() => project[Symbol.dispose]());

/** The tests' own imports of the source become imports of the installed package. */
const builtClient: BunPlugin = {
  name: "built client",
  setup(build) {
    build.onResolve({ filter: /client\/src\/index\.ts$|^petstore-client$/ }, () => ({
      path: "petstore-client",
      external: true,
    }));
  },
};

async function aSmallStore(env: Record<string, string> = {}): Promise<TestStore> {
  const store = await aStore(env);
  await store.aPet(5, "Rex");
  await store.aPet(1, "Tom");
  await store.aPet(1, "Kiwi");
  return store;
}

async function smokeUnder(...command: string[]): Promise<unknown> {
  await using store = await aSmallStore();
  const env = { PETSTORE_URL: store.url, PETSTORE_KEY: store.customer.key };
  return JSON.parse(await runBeside(command, project.folder, env));
}

test("the whole suite passes under Node with the built package", async () => {
  const files = [...new Bun.Glob("suite/*.js").scanSync(project.folder)];
  expect(files.length).toBeGreaterThan(3);
  const said = await runBeside(["node", "--test", "--test-reporter=tap", ...files], project.folder);
  expect(Number(/^# pass (\d+)$/m.exec(said)?.[1])).toBeGreaterThan(120);
  expect(said).toMatch(/^# fail 0$/m);
});

test("the built package works under Bun, Node and Deno", async () => {
  expect(await smokeUnder(bin("bun"), "--no-install", "node.js")).toEqual(expected);
  expect(await smokeUnder("node", "node.js")).toEqual(expected);
  expect(
    await smokeUnder(
      bin("deno"),
      "run",
      "--no-remote",
      "--node-modules-dir=manual",
      "--allow-net",
      "--allow-env",
      "deno.js",
    ),
  ).toEqual(expected);
});

test(
  "the built file works in a page of another origin, in Chromium",
  async () => {
    const told = Promise.withResolvers<unknown>();
    let store: TestStore | undefined;
    using pages = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      routes: {
        "/": () => new Response(page(store as TestStore), { headers: { "content-type": "text/html" } }),
        "/smoke.js": () => new Response(Bun.file(join(project.folder, "smoke.js"))),
        "/client.js": () => new Response(Bun.file(join(project.installed, "dist/index.js"))),
        "/told": async (request) => {
          told.resolve(await request.json());
          return new Response(null, { status: 204 });
        },
      },
      fetch: () => new Response(null, { status: 404 }),
    });
    const origin = pages.url.origin;
    await using own = await aSmallStore({ CORS_ORIGINS: origin });
    store = own;
    using browser = chromium(origin);
    expect(await Promise.race([told.promise, browser.ended])).toEqual(expected);
  },
  CHROMIUM_MS,
);

function page({ url, customer }: TestStore): string {
  return `<!doctype html><title>smoke</title>
<script type="importmap">{ "imports": { "petstore-client": "./client.js", "#smoke": "./smoke.js" } }</script>
<script type="module">
  const tell = (result) => fetch("/told", { method: "POST", body: JSON.stringify(result) });
  addEventListener("unhandledrejection", ({ reason }) => tell({ unhandled: String(reason) }));
  try {
    const { smoke } = await import("#smoke");
    await tell(await smoke(${JSON.stringify(url)}, ${JSON.stringify(customer.key)}));
  } catch (error) {
    await tell({ error: String(error?.stack ?? error) });
  }
</script>`;
}

/** Opens a page in a browser with nothing of its own. */
function chromium(address: string): Disposable & { ended: Promise<never> } {
  const folder = mkdtempSync(join(tmpdir(), "petstore-chromium-"));
  const quiet = [
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  const child = Bun.spawn(
    [
      "chromium",
      "--headless",
      "--no-sandbox",
      ...quiet,
      `--user-data-dir=${folder}`,
      "--remote-debugging-port=0",
      address,
    ],
    { stdout: "ignore", stderr: "ignore" },
  );
  const ended = child.exited.then((code) => {
    throw new Error(`Chromium ended with ${code}.`);
  });
  ended.catch(() => {});
  return {
    ended,
    [Symbol.dispose]() {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
