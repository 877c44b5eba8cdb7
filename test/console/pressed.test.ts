import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { aStore } from "../harness.ts";
import { until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();

/** Writes there wait until they are let go; gives how many came. */
async function heldUp(page: Page, address: string): Promise<{ count: () => number; letGo: () => void }> {
  const going = Promise.withResolvers<void>();
  let came = 0;
  await page.route(address, async (route) => {
    if (route.request().method() === "GET") return route.fallback();
    came += 1;
    await going.promise;
    return route.fallback();
  });
  return { count: () => came, letGo: going.resolve };
}

test("a button that is pressed twice works once, and says so meanwhile", async () => {
  await using store = await aStore();
  const { id: petId } = await store.aPet(20, "Rex");
  await store.customer.post("/store/orders", { petId, quantity: 2 });
  await using visitor = await signedIn(store, store.staff, ["orders", "Orders"]);
  const { page } = visitor;
  const sent = await heldUp(page, "**/store/orders/1");
  const complete = page.getByRole("button", { name: "Complete" });
  await complete.dblclick();
  await until(async () => sent.count() > 0);
  expect(await complete.getAttribute("aria-disabled")).toBe("true");
  await complete.click({ force: true });
  await complete.press("Enter");
  sent.letGo();
  await page.getByRole("row", { name: /^Order 1 Rex 2 complete/ }).waitFor();
  expect(sent.count()).toBe(1);
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(visitor.faults).toEqual([]);
});

test("a form that is sent twice is sent once, and opened twice it is there once", async () => {
  await using store = await aStore();
  await store.aPet(20, "Rex");
  await using visitor = await signedIn(store, store.staff, ["categories", "Categories"]);
  const { page, press } = visitor;
  const sent = await heldUp(page, "**/categories");
  await press("Add a category");
  await page.getByLabel("Name", { exact: true }).fill("Fish");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Add the category" }).click({ force: true });
  await until(async () => sent.count() > 0);
  sent.letGo();
  await page.getByRole("row", { name: /^Fish/ }).waitFor();
  expect(sent.count()).toBe(1);
  expect((await store.staff.get("/categories?name=Fish")).body).toHaveLength(1);

  await visitor.open("pets/1", /^Rex/);
  await page.route("**/store/inventory/1", async (route) => {
    await Bun.sleep(300);
    return route.fallback();
  });
  await page.getByRole("button", { name: "Set stock" }).dblclick();
  await page.getByRole("dialog").waitFor();
  await Bun.sleep(600);
  expect(await page.getByRole("dialog").count()).toBe(1);
  expect(visitor.faults).toEqual([]);
});

test("whoever presses twice to sign out is signed out once, and told of no trouble", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, ["categories", "Categories"]);
  const { page } = visitor;
  const sent = await heldUp(page, "**/console/session");
  const signOut = page.getByRole("button", { name: "Sign out" });
  await signOut.dblclick();
  await until(async () => sent.count() > 0);
  await signOut.click({ force: true });
  sent.letGo();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(sent.count()).toBe(1);
  expect(await page.locator(".notice").count()).toBe(0);
});

test("what was refused can be pressed again", async () => {
  await using store = await aStore();
  await store.aPet(1, "Rex");
  await using visitor = await signedIn(store, store.staff, ["pets/1", /^Rex/]);
  const { page, press } = visitor;
  await page.context().setOffline(true);
  await press("Hold");
  const refusal = page.getByRole("dialog", { name: "That did not work" });
  await refusal.waitFor();
  await page.keyboard.press("Escape");
  await page.context().setOffline(false);
  await press("Hold");
  await page.getByRole("heading", { name: "Rex pending" }).waitFor();
  expect(visitor.faults).toEqual([]);
});
