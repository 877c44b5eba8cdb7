import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { aStore } from "../harness.ts";
import { aBrowser, aVisitor, until } from "./browser.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await aBrowser();
}, 120_000);
afterAll(() => browser.close());

test("staff signs in and sells the last one of a pet over the counter", async () => {
  await using store = await aStore();
  const rex = await store.aPet(1, "Rex");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.signIn(store.staff);
  await page.getByRole("link", { name: "Pets", exact: true }).click();
  const row = page.getByRole("row", { name: /Rex/ });
  await row.getByRole("button", { name: "Sell" }).click();
  const dialog = page.getByRole("dialog", { name: "Sell Rex" });
  expect(await dialog.getByLabel("Handed over already").isChecked()).toBe(true);
  await dialog.getByRole("button", { name: "Sell" }).click();
  await page.locator(".notice", { hasText: "Order 1 was placed and completed." }).waitFor();
  await row.getByText("sold").waitFor();
  expect((await store.staff.get("/store/orders")).body).toMatchObject([
    { id: 1, petId: rex.id, quantity: 1, complete: true },
  ]);
  expect((await store.staff.get(`/store/inventory/${rex.id}`)).body.quantity).toBe(0);
  expect(visitor.faults).toEqual([]);
});

test("what cannot be sold is explained where it was entered, and nothing that was entered is lost", async () => {
  await using store = await aStore();
  const rex = await store.aPet(2, "Rex");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.staff);
  await visitor.open(`pets/${rex.id}`, /^Rex/);
  await page.getByRole("button", { name: "Sell" }).click();
  const dialog = page.getByRole("dialog");
  const units = dialog.getByLabel("Units");
  await units.fill("5");
  await dialog.getByLabel("Ship date").fill("2026-12-24T10:00");
  await dialog.getByRole("button", { name: "Sell" }).click();
  const refusal = "Asked for 5 of pet 1, 2 in stock. Ask for fewer, or have the stock set first.";
  await dialog.getByRole("alert").getByText(refusal, { exact: true }).waitFor();
  await units.fill("-1");
  await dialog.getByRole("button", { name: "Sell" }).click();
  await until(async () => (await units.getAttribute("aria-invalid")) === "true");
  const described = (await units.getAttribute("aria-describedby")) as string;
  expect(await page.locator(`[id="${described}"]`).textContent()).toMatch(/^Must be .*1/);
  expect((await store.staff.get("/store/orders")).body).toEqual([]);
  expect(await dialog.getByLabel("Ship date").inputValue()).toBe("2026-12-24T10:00");
  await units.fill("2");
  await dialog.getByRole("button", { name: "Sell" }).click();
  await page.getByRole("row", { name: /^Order 1 2 complete/ }).waitFor();
  expect((await store.staff.get("/store/orders")).body).toMatchObject([{ quantity: 2, complete: true }]);
});

test("a pet that somebody else changed meanwhile is not overwritten unseen", async () => {
  await using store = await aStore();
  const rex = await store.aPet(1, "Rex");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.staff);
  await visitor.open(`pets/${rex.id}`, /^Rex/);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Name").fill("Rexy");
  await store.staff.patch(`/pets/${rex.id}`, { name: "Max" });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/Somebody changed this in the meantime: it is now “Max”/).waitFor();
  expect((await store.staff.get(`/store/pets/${rex.id}`)).body.name).toBe("Max");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: /^Rexy/ }).waitFor();
  expect((await store.staff.get(`/store/pets/${rex.id}`)).body.name).toBe("Rexy");
});

test("stock that was sold meanwhile is not set unseen, and a pet that changed is not held unseen", async () => {
  await using store = await aStore();
  const rex = await store.aPet(5, "Rex");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.staff);
  await visitor.open(`pets/${rex.id}`, /^Rex/);
  await page.getByRole("button", { name: "Set stock" }).click();
  await page.getByLabel("Units that can be ordered").fill("6");
  await store.customer.post("/store/orders", { petId: rex.id, quantity: 2 });
  await page.getByRole("button", { name: "Set the stock" }).click();
  await page.getByText("it is now 3 units.").waitFor();
  expect((await store.staff.get(`/store/inventory/${rex.id}`)).body.quantity).toBe(3);
  await page.getByRole("button", { name: "Cancel", exact: true }).last().click();

  await visitor.open("pets", "Pets");
  await visitor.open(`pets/${rex.id}`, /^Rex/);
  await store.staff.patch(`/pets/${rex.id}`, { name: "Max" });
  await page.getByRole("button", { name: "Hold" }).click();
  await page.getByText("Somebody else changed this in the meantime, and nothing was done.").waitFor();
  expect((await store.staff.get(`/store/pets/${rex.id}`)).body.status).toBe("available");
  await page.getByRole("button", { name: "Look at it as it is now" }).click();
  await page.getByRole("heading", { name: /^Max/ }).waitFor();
  expect(visitor.faults).toEqual([]);
});

test("a pet that is sold while its name is edited stays sold, and has the new name", async () => {
  await using store = await aStore();
  const rex = await store.aPet(1, "Rex");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.staff);
  await visitor.open(`pets/${rex.id}`, /^Rex/);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Name").fill("Rexy");
  await store.customer.post("/store/orders", { petId: rex.id, complete: true });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("it is now “Rex”, Dogs, sold.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Rexy sold" }).waitFor();
  expect((await store.staff.get(`/store/pets/${rex.id}`)).body).toMatchObject({
    name: "Rexy",
    status: "sold",
  });
});

test("staff looks after a pet: adds, restocks, holds, releases and removes it, and sees each movement", async () => {
  await using store = await aStore();
  await store.staff.post("/categories", { name: "Cats" });
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.staff);
  await visitor.open("pets", "Pets");
  await page.getByText("The store has no pets yet.").waitFor();
  await page.getByRole("button", { name: "Add a pet" }).click();
  await page.getByRole("button", { name: "Add the pet" }).click();
  await page.getByText("Choose one of the list, or give its number.").waitFor();
  await page.getByLabel("Category", { exact: true }).last().fill("Cats (#1)");
  await page.getByRole("button", { name: "Add the pet" }).click();
  await page.getByText(/^Must (be|have|not)/).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Tom");
  await page.getByRole("button", { name: "Add the pet" }).click();
  await page.getByRole("heading", { name: /^Tom/ }).waitFor();

  await page.getByRole("button", { name: "Set stock" }).click();
  await page.getByLabel("Units that can be ordered").fill("7");
  await page.getByRole("button", { name: "Set the stock" }).click();
  await page.getByRole("row", { name: /restocked/ }).waitFor();
  await page.getByRole("button", { name: "Hold" }).click();
  await page.getByText("7 in stock, held").waitFor();
  await page.getByRole("button", { name: "Release" }).click();
  await page.getByText("7 can be ordered now").waitFor();
  await page.getByRole("button", { name: "Hold" }).waitFor();
  expect((await store.staff.get("/store/pets/1")).body).toMatchObject({ quantity: 7, status: "available" });

  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Keep it as it is" }).click();
  expect((await store.staff.get("/store/pets/1")).status).toBe(200);
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove the pet" }).click();
  await page.getByRole("heading", { name: "Pets" }).waitFor();
  expect((await store.staff.get("/store/pets/1")).status).toBe(404);
  await visitor.open("categories", "Categories");
  await visitor.open("pets/1", "Pet");
  await page.getByText("There is no pet 1. It may have been removed meanwhile.", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  expect(visitor.faults).toEqual([]);
});

test("an order is placed, changed, completed, and another cancelled after a question", async () => {
  await using store = await aStore();
  await store.aPet(9, "Nemo");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.customer);
  await visitor.open("orders", "Orders");
  const place = async (units: string) => {
    await page.getByRole("button", { name: "Place an order" }).click();
    await page.getByLabel("Pet", { exact: true }).fill("Nemo (#1)");
    expect(await page.getByLabel("Handed over already").count()).toBe(0);
    await page.getByLabel("Units").fill(units);
    await page.getByRole("button", { name: "Place the order" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };
  await place("2");
  await place("3");
  await page
    .getByRole("row", { name: /Order 1/ })
    .getByRole("button", { name: "Change" })
    .click();
  await page.getByLabel("Units").fill("4");
  await page.getByRole("button", { name: "Save" }).click();
  await page
    .getByRole("row", { name: /Order 1 .*4/ })
    .getByRole("button", { name: "Complete" })
    .click();
  await page.getByRole("row", { name: /Order 1 .*complete/ }).waitFor();
  await page
    .getByRole("row", { name: /Order 2/ })
    .getByRole("button", { name: "Cancel" })
    .click();
  await page.getByRole("button", { name: "Cancel the order" }).click();
  await page.getByRole("row", { name: /Order 2/ }).waitFor({ state: "detached" });
  expect((await store.customer.get("/store/orders")).body).toMatchObject([
    { id: 1, quantity: 4, complete: true },
  ]);
  expect((await store.staff.get("/store/inventory/1")).body.quantity).toBe(5);
});

test("orders are narrowed by state and ship date, and the address keeps that", async () => {
  await using store = await aStore();
  const { id: petId } = await store.aPet(9, "Nemo");
  for (const shipDate of ["2026-12-01T12:00:00Z", "2026-12-10T12:00:00Z", "2026-12-20T12:00:00Z"])
    await store.staff.post("/store/orders", { petId, shipDate });
  await store.staff.patch("/store/orders/3", { complete: true, shipDate: "2026-12-20T12:00:00Z" });
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.staff);
  await visitor.open("orders?from=2026-12-05", "Orders");
  const names = () => page.getByRole("rowheader").allTextContents();
  expect(await names()).toEqual(["Order 3", "Order 2"]);
  await page.getByLabel("Which").selectOption("open");
  await until(async () => (await names()).join() === "Order 2");
  await page.getByLabel("Ships from").fill("");
  await until(async () => (await names()).join() === "Order 2,Order 1");
  await page.getByLabel("Ships before").fill("2026-12-05");
  await until(async () => (await names()).join() === "Order 1");
  expect(page.url()).toEndWith("#/orders?complete=false&before=2026-12-05");
  expect(visitor.faults).toEqual([]);
});

test("a customer sees what it may order, and no staff actions or pages", async () => {
  await using store = await aStore();
  const rex = await store.aPet(3, "Rex");
  await store.staff.post("/store/orders", { petId: rex.id });
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.signIn(store.customer);
  const acts = async (path: string, heading: string | RegExp) => {
    await visitor.open(path, heading);
    return (await page.getByRole("main").getByRole("button").allTextContents()).sort();
  };
  expect(await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents()).toEqual([
    "Overview",
    "Pets",
    "Categories",
    "Orders",
    "Inventory",
    "Live feed",
    "Webhooks",
    "Account",
  ]);
  expect(await acts("pets", "Pets")).toEqual(["Order"]);
  expect(await acts(`pets/${rex.id}`, /^Rex/)).toEqual(["Order"]);
  expect(await page.getByText("Stock movements").count()).toBe(0);
  expect(await acts("categories", "Categories")).toEqual([]);
  expect(await acts("inventory", "Inventory")).toEqual([]);
  expect(await acts("orders", "Orders")).toEqual(["Place an order"]);
  for (const path of ["clients", "clients/1", "bans", "audit"])
    expect(await acts(path, "Not for this key")).toEqual([]);
  expect(visitor.faults).toEqual([]);
});

test("a refusal says what to do in the shop, names no request, and offers no try that cannot help", async () => {
  await using store = await aStore();
  await store.aPet(1, "Rex");
  const till = await store.newPerson("staff");
  await using visitor = await aVisitor(browser, store, { timezoneId: "Asia/Tokyo", locale: "en-US" });
  const { page } = visitor;
  await visitor.enter(till);
  await visitor.open("categories", "Categories");
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove the category" }).click();
  const refusal = page.getByRole("alert");
  const inUse = "Pets belong to category 1. Move its pets to another category or remove them first.";
  await refusal.getByText(inUse, { exact: true }).waitFor();
  expect(await refusal.getByRole("button").count()).toBe(0);
  await page.keyboard.press("Escape");
  await store.admin.put(`/admin/keys/${till.keyId}/ban`, { minutes: 60 });
  await visitor.open("pets", "Pets");
  const banned =
    /^This key is banned until Nov 15, 2026, 10:00\sPM\. Wait until then, or ask an admin to lift the ban\.$/;
  await refusal.getByText(banned).waitFor();
  expect(await refusal.getByRole("button").count()).toBe(0);
});

test("a store with many pets is shown a page at a time", async () => {
  await using store = await aStore();
  const { categoryId } = await store.aPet(1, "Adam");
  const many = Array.from({ length: 120 }, (_, each) => ({ name: `Pet ${each}`, categoryId }));
  await store.staff.post("/pets/batch", many);
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.staff);
  await visitor.open("pets", "Pets");
  const rows = page.locator("tbody tr");
  const shown = async (count: number) => {
    await until(async () => (await rows.count()) === count);
  };
  await shown(50);
  const more = page.getByRole("button", { name: "Show more" });
  await more.click();
  await shown(100);
  await more.click();
  await shown(121);
  expect(await more.count()).toBe(0);
  await page.getByLabel("Name starts with").fill("pet 11");
  await shown(11);
  expect(page.url()).toEndWith("#/pets?name=pet+11");
  await page.reload();
  await shown(11);
  expect(await page.getByLabel("Name starts with").inputValue()).toBe("pet 11");
});

test("the live feed shows what others do as it happens, pauses, and goes on where it was", async () => {
  await using store = await aStore();
  const rex = await store.aPet(5, "Rex");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await page.clock.setFixedTime(store.clock.now);
  await visitor.enter(store.customer);
  await visitor.open("events", "Live feed");
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
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await page.clock.setFixedTime(store.clock.now);
  await visitor.enter(store.customer);
  await visitor.open("events", "Live feed");
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

test("a dialog goes with its page, unless it asks who is there", async () => {
  await using store = await aStore();
  const rex = await store.aPet(1, "Rex");
  const till = await store.newPerson("staff");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(till);
  await visitor.open("pets", "Pets");
  await visitor.open(`pets/${rex.id}`, /^Rex/);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("dialog", { name: "Edit Rex" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Pets" }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await store.admin.delete(`/admin/keys/${till.keyId}`);
  await page.goForward();
  await page.getByRole("dialog", { name: "You are signed out" }).waitFor();
  await page.goBack();
  await page.waitForURL(/pets$/);
  expect(await page.getByRole("dialog", { name: "You are signed out" }).isVisible()).toBe(true);
});

test("a live feed ends with its session", async () => {
  await using store = await aStore();
  const till = await store.newPerson("staff");
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(till);
  await visitor.open("events", "Live feed");
  await page.getByText("live", { exact: true }).waitFor();
  await store.admin.delete(`/admin/keys/${till.keyId}`);
  await page.getByRole("dialog", { name: "You are signed out" }).waitFor();
});
