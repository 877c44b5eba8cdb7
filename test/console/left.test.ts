import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { aStore, type TestStore } from "../harness.ts";
import { until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();
const PHONE = { width: 390, height: 800 };
const DESK = { width: 1280, height: 720 };
const PETS = ["pets", "Pets"] as const;

/** So many pets, the first of them sold. */
async function manyPets(store: TestStore, count: number): Promise<void> {
  const { id: categoryId } = (await store.staff.post("/categories", { name: "Fish" })).body;
  const status = (made: number) => (made === 0 ? "sold" : "available");
  const pets = Array.from({ length: count }, (_, made) => ({
    name: `Fish ${made + 1}`,
    categoryId,
    status: status(made),
  }));
  await store.staff.post("/pets/batch", pets);
}

const rows = (page: Page) => page.locator("tbody tr").count();
const down = (page: Page) => page.evaluate("Math.round(window.scrollY)") as Promise<number>;

/** Shows all rows that there are to come, so many at a time. */
async function showMore(page: Page, count: number): Promise<void> {
  await page.getByRole("button", { name: "Show more" }).click();
  await until(async () => (await rows(page)) === count);
}

test("who comes back from a pet finds the list of pets as it was left: what it was narrowed by, all rows, and how far down", async () => {
  await using store = await aStore();
  await manyPets(store, 130);
  await using visitor = await signedIn(store, store.staff, PETS);
  const { page } = visitor;
  await page.getByLabel("Status").selectOption("available");
  await page.getByRole("link", { name: "Fish 1", exact: true }).waitFor({ state: "detached" });
  await showMore(page, 100);
  await showMore(page, 129);
  const link = page.getByRole("link", { name: "Fish 88", exact: true });
  await link.scrollIntoViewIfNeeded();
  const left = await down(page);
  expect(left).toBeGreaterThan(1000);
  await link.click();
  await page.getByRole("heading", { name: /^Fish 88/ }).waitFor();
  expect(await down(page)).toBe(0);
  await page.goBack();
  await until(async () => (await rows(page)) === 129);
  await until(async () => (await down(page)) === left);
  expect(await page.getByLabel("Status").inputValue()).toBe("available");
  expect(await link.isVisible()).toBe(true);
  await page.goForward();
  await page.getByRole("heading", { name: /^Fish 88/ }).waitFor();
  await page.goBack();
  await until(async () => (await down(page)) === left);
  await page.reload();
  await until(async () => (await rows(page)) === 129 && (await down(page)) === left);
  await page.getByRole("link", { name: "Orders", exact: true }).click();
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  expect(await down(page)).toBe(0);
  await page.getByRole("link", { name: "Pets", exact: true }).click();
  await page.getByRole("link", { name: "Fish 1", exact: true }).waitFor();
  expect([await rows(page), await down(page)]).toEqual([50, 0]);
  expect(visitor.faults).toEqual([]);
});

test("a list of cards on a phone is found as it was left too, and stays there when one of them is changed", async () => {
  await using store = await aStore();
  await manyPets(store, 130);
  await using visitor = await signedIn(store, store.staff, PETS, { viewport: PHONE });
  const { page, press } = visitor;
  await showMore(page, 100);
  const row = page.getByRole("row", { name: /^Fish 88 / });
  await row.scrollIntoViewIfNeeded();
  const left = await down(page);
  await row.getByRole("link").click();
  await page.getByRole("heading", { name: /^Fish 88/ }).waitFor();
  await page.goBack();
  await until(async () => (await rows(page)) === 100 && (await down(page)) === left);
  await row.getByRole("button", { name: "Sell" }).click();
  await press("Sell");
  await row.getByText("sold").waitFor();
  expect(await down(page)).toBe(left);
  expect(visitor.faults).toEqual([]);
});

test("who comes back with a higher window, where the list ends before it is so far down, is not moved when more of it comes", async () => {
  await using store = await aStore();
  await manyPets(store, 130);
  await using visitor = await signedIn(store, store.staff, PETS);
  const { page } = visitor;
  await page.getByRole("link", { name: "Fish 50", exact: true }).scrollIntoViewIfNeeded();
  await page.getByRole("button", { name: "Show more" }).scrollIntoViewIfNeeded();
  const left = await down(page);
  await page.getByRole("link", { name: "Fish 50", exact: true }).click();
  await page.getByRole("heading", { name: /^Fish 50/ }).waitFor();
  await page.setViewportSize({ width: 1280, height: 1400 });
  await page.goBack();
  await until(async () => (await rows(page)) === 50 && (await down(page)) > 0);
  const now = await down(page);
  expect(now).toBeLessThan(left);
  await showMore(page, 100);
  expect(await down(page)).toBe(now);
  expect(visitor.faults).toEqual([]);
});

test("of a list that was longer than 500 so many are found again, for ten requests", async () => {
  await using store = await aStore();
  await manyPets(store, 620);
  await using visitor = await signedIn(store, store.staff, PETS);
  const { page } = visitor;
  for (let count = 100; count <= 600; count += 50) await showMore(page, count);
  await page.getByRole("link", { name: "Fish 600", exact: true }).click();
  await page.getByRole("heading", { name: /^Fish 600/ }).waitFor();
  let asked = 0;
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/pets") asked += 1;
  });
  await page.goBack();
  await until(async () => (await rows(page)) === 500);
  expect(asked).toBe(10);
  await showMore(page, 550);
  expect(visitor.faults).toEqual([]);
});

for (const [how, viewport] of [
  ["by mouse", DESK],
  ["by keyboard", DESK],
  ["by mouse", PHONE],
  ["by keyboard", PHONE],
] as const)
  test(`more of a list comes below what is read, which stays where it is, ${how}, ${viewport.width} pixels wide`, async () => {
    await using store = await aStore();
    await manyPets(store, 130);
    await using visitor = await signedIn(store, store.staff, PETS, { viewport });
    const { page } = visitor;
    const more = page.getByRole("button", { name: "Show more" });
    await more.scrollIntoViewIfNeeded();
    const [before, row] = [await down(page), page.getByRole("row", { name: /^Fish 49 / })];
    const place = (await row.boundingBox())?.y;
    if (how === "by mouse") await more.click();
    else {
      await more.focus();
      await page.keyboard.press("Enter");
    }
    await until(async () => (await rows(page)) === 100);
    expect([await down(page), (await row.boundingBox())?.y]).toEqual([before, place]);
    // Whoever goes by keys goes on from the first row that is new.
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Fish 51");
    expect(visitor.faults).toEqual([]);
  });
