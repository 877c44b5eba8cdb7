import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();
const CATEGORIES = ["categories", "Categories"] as const;

test("when another tab signs in with another key this one names it, and offers what that one may do", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, CATEGORIES);
  const { page, press } = visitor;
  const { body: staff } = await store.staff.get("/account");
  const { body: customer } = await store.customer.get("/account");
  await page.getByText(`staff key …${staff.key.lastFour}`).waitFor();
  await press("Add a category");
  await page.getByLabel("Name", { exact: true }).fill("Dogs");
  const other = await anotherTab(page, store);
  await other.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await page.getByText("Categories").count()).toBe(0);
  await signInAs(other, store.customer);
  await page.getByText(`customer key …${customer.key.lastFour}`).waitFor();
  await page.getByRole("heading", { name: "Categories", level: 1 }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await page.getByRole("button", { name: "Add a category" }).count()).toBe(0);
  expect(visitor.faults).toEqual([]);
});

test("what still waits when another tab signs in with another key is sent as neither of them", async () => {
  await using store = await aStore();
  const shop = await store.newPerson("staff", { quota: { perMinute: 10, perDay: 1000 } });
  await using visitor = await signedIn(store, shop, CATEGORIES);
  const { page, press } = visitor;
  const other = await anotherTab(page, store);
  while ((await shop.get("/account/limits")).body.minute.remaining > 0) await shop.get("/categories");
  await page.clock.install();
  await press("Add a category");
  await page.getByLabel("Name", { exact: true }).fill("Dogs");
  await press("Add the category");
  const notice = page.locator(".holding", { hasText: "are spent" });
  await notice.waitFor();
  await page.context().clearCookies();
  await other.reload();
  await signInAs(other, store.staff);
  await page.clock.runFor(1000);
  await notice.waitFor({ state: "detached" });
  await page.getByText(/^staff key …/).waitFor();
  store.clock.now += 60_000;
  await page.clock.runFor(61_000);
  await page.getByRole("button", { name: "Add a category" }).waitFor();
  expect((await store.staff.get("/categories")).body).toEqual([]);
  expect(visitor.faults).toEqual([]);
});

test("nothing is sent between the sign-in of another tab and the answer to who it is", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, CATEGORIES);
  const { page, press } = visitor;
  const other = await anotherTab(page, store);
  const answered = Promise.withResolvers<void>();
  await page.route("**/account", async (route) => {
    await answered.promise;
    await route.continue();
  });
  await press("Add a category");
  await page.getByLabel("Name", { exact: true }).fill("Dogs");
  const asked = page.waitForRequest("**/account");
  await page.context().clearCookies();
  await other.reload();
  await signInAs(other, store.admin);
  await asked;
  await press("Add the category");
  await page.locator("form[aria-busy]").waitFor();
  await Bun.sleep(300);
  answered.resolve();
  await page.getByText(/^admin key …/).waitFor();
  await page.getByRole("heading", { name: "Categories", level: 1 }).waitFor();
  expect((await store.staff.get("/categories")).body).toEqual([]);
  expect(visitor.faults).toEqual([]);
});

test("somebody whose session is over signs in again in one tab, and goes on where it was in all", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, CATEGORIES);
  const { page, press } = visitor;
  const other = await anotherTab(page, store);
  await press("Add a category");
  await page.getByLabel("Name", { exact: true }).fill("Dogs");
  await page.context().clearCookies();
  await press("Add the category");
  const dialog = page.getByRole("dialog", { name: "You are signed out" });
  await dialog.waitFor();
  await other.reload();
  await signInAs(other, store.staff);
  await dialog.waitFor({ state: "detached" });
  await press("Add the category");
  await page.getByRole("row", { name: /Dogs/ }).waitFor();
  await until(async () => (await store.staff.get("/categories")).body.length === 1);
  expect(visitor.faults).toEqual([]);
});

/** A second tab of the same browser, with the same cookie. */
async function anotherTab(page: Page, store: TestStore): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(`${store.url}/console#/account`);
  await other.getByRole("heading", { name: "Account", level: 1 }).waitFor();
  return other;
}

async function signInAs(page: Page, { key }: Person): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
}
