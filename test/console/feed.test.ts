import { expect, test } from "bun:test";
import { aStore, type TestStore } from "../harness.ts";
import { aVisitor, theBrowser, until, type Visitor } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const browser = theBrowser();
const signedIn = visitors(browser);

/** A customer who looks at the feed when it is noon for the browser too. */
async function aFeed(store: TestStore): Promise<Visitor> {
  const visitor = await aVisitor(browser, store);
  await visitor.page.clock.setFixedTime(store.clock.now);
  await visitor.enter(store.customer);
  await visitor.open("events", "Live feed");
  return visitor;
}

test("the live feed shows what others do as it happens, pauses, and goes on where it was", async () => {
  await using store = await aStore();
  const rex = await store.aPet(5, "Rex");
  await using visitor = await aFeed(store);
  const { page } = visitor;
  const lines = page.getByRole("list", { name: "Events, newest first" }).getByRole("listitem");
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

test("a live feed says when the server is away, and when it is back", async () => {
  await using store = await aStore();
  const rex = await store.aPet(5, "Rex");
  await using visitor = await aFeed(store);
  const { page } = visitor;
  const state = page.getByRole("main").getByRole("status");
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
