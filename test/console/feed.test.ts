import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { aStore, type TestStore } from "../harness.ts";
import { aVisitor, theBrowser, until, type Visitor } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const AN_HOUR_MS = 3_600_000;
const browser = theBrowser();
const signedIn = visitors(browser);

/** A customer who looks at the feed when it is noon for the browser too. */
async function aFeed(store: TestStore, path = "events"): Promise<Visitor> {
  const visitor = await aVisitor(browser, store);
  await visitor.page.clock.setFixedTime(store.clock.now);
  await visitor.enter(store.customer);
  await visitor.open(path, "Live feed");
  return visitor;
}

function partsOf(page: Page) {
  return {
    lines: page.getByRole("list", { name: "Events, newest first" }).getByRole("listitem"),
    state: page.getByRole("main").getByRole("status"),
  };
}

test("the live feed shows what others do as it happens, pauses, and goes on where it was", async () => {
  await using store = await aStore();
  const rex = await store.aPet(5, "Rex");
  await using visitor = await aFeed(store);
  const { page } = visitor;
  const { lines } = partsOf(page);
  await lines.getByText("Rex was added").waitFor();
  await store.customer.post("/store/orders", { petId: rex.id, quantity: 2 });
  await lines.getByText("Order 1 of 2 × Rex was placed").waitFor();
  // What another client orders is none of this one's business; what it does to the stock is.
  await store.stranger.post("/store/orders", { petId: rex.id });
  await lines.getByText("Rex: −1, 2 in stock").waitFor();
  expect(await lines.getByText("Order 2").count()).toBe(0);

  await page.getByRole("button", { name: "Pause" }).click();
  await store.staff.put(`/store/inventory/${rex.id}`, { quantity: 9 });
  const before = await lines.count();
  await page.getByRole("button", { name: "Go on" }).click();
  await lines.getByText("Rex: +7, 9 in stock").waitFor();
  expect(await lines.count()).toBe(before + 1);
  await page.getByLabel("Show").selectOption("orders");
  await until(async () => (await lines.count()) === 1);
  expect(visitor.faults).toEqual([]);
});

test("a feed that was paused before anything was shown goes on with what was missed, however long ago that was", async () => {
  await using store = await aStore();
  const rex = await store.aPet(5, "Rex");
  await using visitor = await aFeed(store, "events?kind=orders");
  const { page } = visitor;
  const { lines, state } = partsOf(page);
  await page.getByText("Nothing happened lately.").waitFor();
  await state.getByText("live", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await state.getByText("paused", { exact: true }).waitFor();
  await store.customer.post("/store/orders", { petId: rex.id, quantity: 2 });
  store.clock.now += AN_HOUR_MS;
  await page.clock.setFixedTime(store.clock.now);
  await page.getByRole("button", { name: "Go on" }).click();
  await lines.getByText("Order 1 of 2 × Rex was placed").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await store.customer.patch("/store/orders/1", { quantity: 3 });
  await page.getByRole("button", { name: "Go on" }).click();
  await lines.getByText("Order 1").nth(1).waitFor();
  expect(await lines.count()).toBe(2);
  expect(visitor.faults).toEqual([]);
});

test("what happens while a live feed is cut off is there when it is back, once and in its order", async () => {
  await using store = await aStore();
  const rex = await store.aPet(5, "Rex");
  await using visitor = await aFeed(store);
  const { page } = visitor;
  const { lines, state } = partsOf(page);
  await state.getByText("live", { exact: true }).waitFor();
  await store.staff.put(`/store/inventory/${rex.id}`, { quantity: 6 });
  await lines.getByText("Rex: +1, 6 in stock").waitFor();
  const before = await lines.count();
  await page.route("**/events/stream*", (route) => route.abort());
  await store.restart();
  await state.getByText("not connected", { exact: true }).waitFor();
  for (const quantity of [7, 8, 9]) await store.staff.put(`/store/inventory/${rex.id}`, { quantity });
  store.clock.now += AN_HOUR_MS;
  await page.clock.setFixedTime(store.clock.now);
  await page.unroute("**/events/stream*");
  await lines.getByText("Rex: +1, 9 in stock").waitFor();
  const texts = (await lines.allTextContents()).map((text) => /\d in stock/.exec(text)?.[0]);
  expect(texts.slice(0, 4)).toEqual(["9 in stock", "8 in stock", "7 in stock", "6 in stock"]);
  expect(await lines.count()).toBe(before + 3);
});

test("a live feed says when the server is away, and when it is back", async () => {
  await using store = await aStore();
  const rex = await store.aPet(5, "Rex");
  await using visitor = await aFeed(store);
  const { page } = visitor;
  const { state } = partsOf(page);
  await state.getByText("live", { exact: true }).waitFor();
  await page.route("**/events/stream*", (route) => route.abort());
  await store.restart();
  await state.getByText("not connected", { exact: true }).waitFor();
  expect(await state.getByText("live", { exact: true }).count()).toBe(0);
  await page.unroute("**/events/stream*");
  await state.getByText("live", { exact: true }).waitFor();
  await store.staff.put(`/store/inventory/${rex.id}`, { quantity: 9 });
  await page.getByText("Rex: +4, 9 in stock").waitFor();
});

test("a live feed ends with its session", async () => {
  await using store = await aStore();
  const till = await store.newPerson("staff");
  await using visitor = await signedIn(store, till, ["events", "Live feed"]);
  const { page } = visitor;
  await page.getByText("live", { exact: true }).waitFor();
  await store.admin.delete(`/admin/keys/${till.keyId}`);
  await page.getByRole("dialog", { name: "You are signed out" }).waitFor();
});
