import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { aStore, type Person } from "../harness.ts";
import { until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();
const CATEGORIES = ["categories", "Categories"] as const;

/** From now on what is written there is done, but no answer arrives; gives a way to have answers again. */
async function loseAnswers(page: Page, address: string): Promise<() => Promise<void>> {
  await page.route(address, async (route) => {
    if (route.request().method() === "GET") return route.fallback();
    await route.fetch();
    return route.abort();
  });
  return () => page.unroute(address);
}

async function spendMinute(person: Person): Promise<void> {
  while ((await person.get("/account/limits")).body.minute.remaining > 0) await person.get("/categories");
}

test("a sale whose answer never came is done once, however often it is pressed; the next one is another", async () => {
  await using store = await aStore();
  const rex = await store.aPet(5, "Rex");
  await using visitor = await signedIn(store, store.staff, [`pets/${rex.id}`, /^Rex/]);
  const { page, press } = visitor;
  const orders = async () => (await store.staff.get("/store/orders")).body.length;
  await press("Sell");
  const answered = await loseAnswers(page, "**/store/orders");
  await press("Sell");
  await page.getByRole("alert").getByText("could not be reached").waitFor();
  expect(await orders()).toBe(1);
  await answered();
  await press("Sell");
  await page.getByRole("row", { name: /^Order 1 1 complete/ }).waitFor();
  expect(await orders()).toBe(1);
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await press("Sell");
  await press("Sell");
  await page.getByRole("row", { name: /^Order 2 1 complete/ }).waitFor();
  expect(await orders()).toBe(2);
  expect(visitor.faults).toEqual([]);
});

test("what waits for the next minute is not sent once its dialog is cancelled", async () => {
  await using store = await aStore();
  const shop = await store.newPerson("staff", { quota: { perMinute: 10, perDay: 1000 } });
  await using visitor = await signedIn(store, shop, CATEGORIES);
  const { page, press } = visitor;
  await spendMinute(shop);
  await page.clock.install();
  await press("Add a category");
  await page.getByLabel("Name", { exact: true }).fill("Dogs");
  await press("Add the category");
  const notice = page.locator(".holding", { hasText: "are spent" });
  await notice.waitFor();
  await press("Cancel");
  await page.clock.runFor(1000);
  await notice.waitFor({ state: "detached" });
  store.clock.now += 60_000;
  await page.clock.runFor(61_000);
  await press("Add a category");
  expect((await store.staff.get("/categories")).body).toEqual([]);
  expect(visitor.faults).toEqual([]);
});

test("a refusal that comes when its dialog is closed already is told all the same", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, CATEGORIES);
  const { page, press } = visitor;
  const isClosed = Promise.withResolvers<void>();
  await page.route("**/categories", async (route) => {
    if (route.request().method() === "POST") await isClosed.promise;
    return route.fallback();
  });
  await press("Add a category");
  await press("Add the category");
  await page.locator("form[aria-busy]").waitFor();
  await press("Cancel");
  isClosed.resolve();
  await page.locator(".notice", { hasText: "must not be empty" }).waitFor();
  expect(visitor.faults).toEqual([]);
});

test("a proxy that refuses and does not say for how long is not asked again and again", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, ["account", "Account"]);
  const { page } = visitor;
  let asked = 0;
  await page.route("**/categories*", (route) => {
    asked += 1;
    return route.fulfill({ status: 429, contentType: "text/html", body: "<h1>Slow down</h1>" });
  });
  await page.evaluate("location.hash = '#/categories'");
  await page.locator(".failed").waitFor({ timeout: 30_000 });
  // Once, and twice more by the client, which waits for longer each time.
  expect(asked).toBe(3);
  expect(visitor.faults).toEqual([]);
}, 40_000);

test("while nobody can say who is signed in, what was entered stays, and goes on once that is known", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, CATEGORIES);
  const { page, press } = visitor;
  await press("Add a category");
  await page.getByLabel("Name", { exact: true }).fill("Dogs");
  await page.context().clearCookies();
  await press("Add the category");
  const dialog = page.getByRole("dialog", { name: "You are signed out" });
  await dialog.waitFor();
  await page.route("**/account", (route) => route.abort());
  await dialog.getByLabel("API key").fill(store.staff.key);
  await press("Sign in");
  await page.locator(".notice", { hasText: "Asking again who is signed in." }).waitFor({ timeout: 20_000 });
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Dogs");
  await page.unroute("**/account");
  await dialog.waitFor({ state: "detached", timeout: 20_000 });
  await press("Add the category");
  await page.getByRole("row", { name: /Dogs/ }).waitFor();
  await until(async () => (await store.staff.get("/categories")).body.length === 1);
  expect(visitor.faults).toEqual([]);
}, 60_000);

test("a list that cannot be read shows nothing of what was asked before", async () => {
  await using store = await aStore();
  await store.aPet(1, "Rex");
  await using visitor = await signedIn(store, store.staff, ["pets", "Pets"]);
  const { page } = visitor;
  await page.getByRole("row", { name: /Rex/ }).waitFor();
  await page.route("**/pets?*", (route) => route.abort());
  await page.getByLabel("Status").selectOption("sold");
  await page.locator(".failed").waitFor({ timeout: 20_000 });
  expect(await page.getByRole("row", { name: /Rex/ }).count()).toBe(0);
  expect(visitor.faults).toEqual([]);
}, 40_000);
