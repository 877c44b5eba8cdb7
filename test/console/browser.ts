// A real browser, as somebody at a till or a desk uses it.
import { afterAll, beforeAll } from "bun:test";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { Person, TestStore } from "../harness.ts";
import { needed } from "../tools.ts";

const PATIENCE_MS = 20_000;
const START_MS = 120_000;

/** Starts Chromium; it talks to nobody but the servers of the tests. */
export async function aBrowser(): Promise<Browser> {
  await needed("chromium");
  return chromium.launch({
    executablePath: Bun.which("chromium") as string,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** One browser for a file of tests. */
export function theBrowser(): Browser {
  const started: { browser?: Browser } = {};
  beforeAll(async () => {
    started.browser = await aBrowser();
  }, START_MS);
  afterAll(() => started.browser?.close());
  return new Proxy({} as Browser, {
    get: (_, name) => {
      const value = Reflect.get(started.browser as Browser, name);
      return typeof value === "function" ? value.bind(started.browser) : value;
    },
  });
}

export interface Visitor extends AsyncDisposable {
  readonly page: Page;
  /** Faults of the page's script, and what its policy forbade. */
  readonly faults: readonly string[];
  /** Signs in by the form. */
  signIn(person: Pick<Person, "key">): Promise<void>;
  /** Is signed in already; the page is yet to be opened. */
  enter(person: Pick<Person, "key">): Promise<void>;
  /** Opens a page of the console by its address, and waits for its heading. */
  open(path: string, heading: string | RegExp): Promise<void>;
}

/** Waits until it is so; what a page shows comes when it comes. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`It did not come about within ${PATIENCE_MS} ms: ${isSo}`);
    await Bun.sleep(20);
  }
}

/** A window of its own: no cookie is shared with another. */
export async function aVisitor(
  browser: Browser,
  store: Pick<TestStore, "url">,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    // A refusal of the API is no fault of the page.
    if (message.type() === "error" && !/status of 4\d\d|ERR_/.test(message.text()))
      faults.push(message.text());
  });
  return {
    page,
    faults,
    async signIn({ key }) {
      await page.goto(`${store.url}/console`);
      await page.getByLabel("API key").fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    },
    async enter({ key }) {
      const headers = { "x-petstore-console": "1", "x-api-key": key };
      await context.request.post(`${store.url}/console/session`, { headers });
    },
    async open(path, heading) {
      await page.goto(`${store.url}/console#/${path}`);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await until(async () => (await page.locator("main[aria-busy], main [aria-busy]").count()) === 0);
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}
