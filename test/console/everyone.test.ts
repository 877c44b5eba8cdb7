import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { aStore } from "../harness.ts";
import { aBrowser, aVisitor, until, type Visitor } from "./browser.ts";
import { furnished } from "./furnished.ts";

const PHONE = { viewport: { width: 360, height: 740 } };
const HOSTILE = "<img src=x onerror=window.hacked=1><b>bold</b>";
const LONG = "Wolfeschlegelsteinhausenbergerdorff".repeat(5);
const audit = await Bun.file(join(import.meta.dir, "contrast.js")).text();

let browser: Browser;
beforeAll(async () => {
  browser = await aBrowser();
}, 120_000);
afterAll(() => browser.close());

const pages: readonly (readonly [path: string, heading: string | RegExp])[] = [
  ["", "Overview"],
  ["pets", "Pets"],
  ["pets/1", /available$/],
  ["categories", "Categories"],
  ["orders", "Orders"],
  ["inventory", "Inventory"],
  ["events", "Live feed"],
  ["clients", "Clients"],
  ["clients/5", /active$/],
  ["bans", "Bans"],
  ["audit", "Audit trail"],
  ["all-webhooks", "All webhooks"],
  ["all-webhooks/1", "Webhook 1 failing"],
  ["webhooks", "Webhooks"],
  ["webhooks/1", "Webhook 1 failing"],
  ["webhooks/1/deliveries/1", "Delivery 1 pending"],
  ["webhooks/2", "Webhook 2 disabled"],
  ["account", "Account"],
];

async function everyPage(visitor: Visitor, look: (path: string) => Promise<void>): Promise<void> {
  for (const [path, heading] of pages) {
    await visitor.open(path, heading);
    await look(path);
  }
}

test("a hostile name is shown as text on every page, and nothing of it runs", async () => {
  await using store = await furnished(HOSTILE);
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.admin);
  const seen: string[] = [];
  await everyPage(visitor, async (path) => {
    if ((await page.getByText(HOSTILE).count()) > 0) seen.push(path);
    expect(await page.locator("main img, main b").count()).toBe(0);
  });
  expect(seen).toEqual([
    "",
    "pets",
    "pets/1",
    "categories",
    "orders",
    "inventory",
    "clients",
    "clients/5",
    "bans",
    "audit",
    "all-webhooks",
    "all-webhooks/1",
    "webhooks",
    "webhooks/1",
    "webhooks/1/deliveries/1",
    "webhooks/2",
  ]);
  await visitor.open("pets/1", /available$/);
  await page.getByRole("button", { name: "Edit" }).click();
  expect(await page.getByLabel("Name").inputValue()).toBe(HOSTILE);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(visitor.faults).toEqual([]);
});

test("on a phone no page, menu or dialog is wider than the screen, however long a name is", async () => {
  await using store = await furnished(LONG);
  await using visitor = await aVisitor(browser, store, PHONE);
  const { page } = visitor;
  await visitor.enter(store.admin);
  const width = () => page.evaluate("document.documentElement.scrollWidth");
  await everyPage(visitor, async (path) => expect([path, await width()]).toEqual([path, 360]));
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Orders" }).click();
  await page.getByRole("heading", { name: "Orders" }).waitFor();
  expect(await page.getByRole("link", { name: "Orders" }).isVisible()).toBe(false);
  await page.getByRole("button", { name: "Change" }).first().click();
  const box = await page.getByRole("dialog").boundingBox();
  expect((box?.x ?? -1) >= 0 && (box?.width ?? 999) <= 360).toBe(true);
  expect(await width()).toBe(360);
  for (const [path, heading, name] of [
    ["webhooks/1", "Webhook 1 failing", "Edit"],
    ["all-webhooks/1", "Webhook 1 failing", "Show"],
  ] as const) {
    await visitor.open(path, heading);
    await page.getByRole("button", { name, exact: true }).click();
    await page.getByRole("dialog").waitFor();
    const wide =
      "document.querySelector('dialog').scrollWidth - document.querySelector('dialog').clientWidth";
    expect([path, await page.evaluate(wide), await width()]).toEqual([path, 0, 360]);
  }
});

for (const width of [768, 1024, 1280])
  test(`at ${width} px no page or list is scrolled sideways, and all that can be done with a key is in sight`, async () => {
    await using store = await furnished("Nemo");
    const { clientId } = store.admin;
    const name = "Tills of the shop by the sea";
    await store.admin.post(`/admin/clients/${clientId}/keys`, { name, role: "staff", expiresInDays: 9 });
    await using visitor = await aVisitor(browser, store, { viewport: { width, height: 800 } });
    const { page } = visitor;
    await visitor.enter(store.admin);
    const wide = () =>
      page.evaluate(
        "[document.documentElement, ...document.querySelectorAll('.listing')].filter((each) => each.scrollWidth > each.clientWidth).length",
      );
    await everyPage(visitor, async (path) => expect([path, await wide()]).toEqual([path, 0]));
    await visitor.open(`clients/${clientId}`, /active$/);
    expect(await wide()).toBe(0);
    const acts = page.getByRole("row", { name }).getByRole("button");
    expect(await acts.allTextContents()).toEqual(["Rotate", "Ban", "Revoke"]);
    for (const act of await acts.all()) {
      const { x = -1, width: across = 0 } = (await act.boundingBox()) ?? {};
      expect(x >= 0 && x + across <= width).toBe(true);
    }
  });

for (const colorScheme of ["light", "dark"] as const)
  test(`in ${colorScheme} colours every text can be read and every control has a name`, async () => {
    await using store = await furnished("Rex");
    await using visitor = await aVisitor(browser, store, { colorScheme });
    const { page } = visitor;
    await page.goto(`${store.url}/console`);
    const ground = "getComputedStyle(document.body).backgroundColor";
    const [red = 0] = ((await page.evaluate(ground)) as string).match(/\d+/g)?.map(Number) ?? [];
    expect(red > 128).toBe(colorScheme === "light");
    const nothing = { faint: [], nameless: [] };
    expect(await page.evaluate(audit)).toEqual(nothing);
    await visitor.signIn(store.admin);
    await everyPage(visitor, async (path) =>
      expect([path, await page.evaluate(audit)]).toEqual([path, nothing]),
    );
    await visitor.open("pets/1", /available$/);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Name").fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await until(async () => (await page.locator("[aria-busy]").count()) === 0);
    expect(await page.evaluate(audit)).toEqual(nothing);
    await visitor.open("webhooks/1", "Webhook 1 failing");
    await page.getByRole("button", { name: "Ping" }).click();
    await page.getByText("Nobody listens at the address").first().waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("category.deleted").uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator("[name=types][aria-invalid=true]").waitFor();
    await until(async () => (await page.locator("[aria-busy]").count()) === 0);
    expect(await page.evaluate(audit)).toEqual(nothing);
    await visitor.open("all-webhooks/1", "Webhook 1 failing");
    await page.getByRole("button", { name: "Show" }).last().click();
    expect(await page.evaluate(audit)).toEqual(nothing);
  });

test("everything can be done with the keyboard alone: sign in, skip, open, sell, close", async () => {
  await using store = await aStore();
  const rex = await store.aPet(2, "Rex");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  const { keyboard } = page;
  const focused = () =>
    page.evaluate("document.activeElement.textContent || document.activeElement.name") as Promise<string>;
  const tabTo = async (wanted: string) => {
    for (let presses = 0; presses < 40 && (await focused()) !== wanted; presses++)
      await keyboard.press("Tab");
    expect(await focused()).toBe(wanted);
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
  };
  await page.goto(`${store.url}/console`);
  await page.getByLabel("API key").waitFor();
  await keyboard.type(store.staff.key);
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.evaluate("document.activeElement.blur()");
  await tabTo("Skip to the content");
  await keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.id")).toBe("main");
  await page.evaluate("document.activeElement.blur()");
  await tabTo("Pets");
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "Pets" }).waitFor();
  await page.getByRole("button", { name: "Sell" }).waitFor();
  expect(await focused()).toBe("Pets");
  await tabTo("Sell");
  await keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  expect(await focused()).toBe("quantity");
  for (let presses = 0; presses < 12; presses++) {
    await keyboard.press("Tab");
    const isInside = await page.evaluate(
      "document.activeElement === document.body || document.querySelector('dialog').contains(document.activeElement)",
    );
    expect(isInside).toBe(true);
  }
  await keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await focused()).toBe("Sell");
  await keyboard.press("Enter");
  await dialog.waitFor();
  await keyboard.press("Enter");
  await page.locator(".notice", { hasText: "Order 1 was placed and completed." }).waitFor();
  expect((await store.staff.get(`/store/inventory/${rex.id}`)).body.quantity).toBe(1);
  await until(async () => (await focused()) === "Sell");
  await page
    .getByRole("status")
    .getByText("Order 1 was placed and completed.")
    .waitFor({ state: "attached" });
});
