// What somebody else did meanwhile is seen before it is changed, and what was not entered anew is left as it is.
import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import { until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();
const ORDERS = ["orders", "Orders"] as const;

test("an order that was changed meanwhile is not completed or cancelled unseen; whoever saw what it is now may", async () => {
  await using store = await aStore();
  const { id: petId } = await store.aPet(20, "Rex");
  await store.customer.post("/store/orders", { petId, quantity: 2 });
  await store.customer.post("/store/orders", { petId, quantity: 3 });
  await using visitor = await signedIn(store, store.staff, ORDERS);
  const { page } = visitor;
  const row = (id: number) => page.getByRole("row", { name: new RegExp(`^Order ${id} `) });
  const dialog = page.getByRole("dialog", { name: "That did not work" });
  const order = async (id: number) => (await store.staff.get(`/store/orders/${id}`)).body;

  await store.customer.patch("/store/orders/1", { quantity: 7 });
  await row(1).getByRole("button", { name: "Complete" }).click();
  await dialog.getByText("and nothing was done: it is now open, 7 units.").waitFor();
  expect(await order(1)).toMatchObject({ quantity: 7, complete: false });
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("row", { name: /^Order 1 Rex 7 open/ }).waitFor();
  await row(1).getByRole("button", { name: "Complete" }).click();
  await page.getByRole("row", { name: /^Order 1 Rex 7 complete/ }).waitFor();

  await store.customer.patch("/store/orders/2", { quantity: 1 });
  await row(2).getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Cancel the order" }).click();
  await dialog.getByText("it is now open, 1 unit.").waitFor();
  expect((await order(2)).quantity).toBe(1);
  await dialog.getByRole("button", { name: "Try again" }).click();
  await row(2).waitFor({ state: "detached" });
  expect((await store.staff.get("/store/orders/2")).status).toBe(404);
  expect(visitor.faults).toEqual([]);
});

test("an order that is changed in the moment in which it is completed stays open", async () => {
  await using store = await aStore();
  const { id: petId } = await store.aPet(20, "Rex");
  await store.customer.post("/store/orders", { petId, quantity: 2 });
  await using visitor = await signedIn(store, store.staff, ORDERS);
  const { page, press } = visitor;
  await page.route("**/store/orders/1", async (route) => {
    if (route.request().method() === "PATCH") await store.customer.patch("/store/orders/1", { quantity: 7 });
    return route.fallback();
  });
  await press("Complete");
  await page.getByText("Somebody else changed this in the meantime, and nothing was done.").waitFor();
  expect((await store.staff.get("/store/orders/1")).body).toMatchObject({ quantity: 7, complete: false });
  await press("Look at it as it is now");
  await page.getByRole("row", { name: /^Order 1 Rex 7 open/ }).waitFor();
  expect(visitor.faults).toEqual([]);
});

test("a category that is renamed keeps the description that somebody else gave it meanwhile, and one that is cleared is gone", async () => {
  await using store = await aStore();
  await store.staff.post("/categories", { name: "Fish", description: "Swims." });
  await using visitor = await signedIn(store, store.staff, ["categories", "Categories"]);
  const { page, press } = visitor;
  const category = async () => (await store.staff.get("/categories/1")).body;
  await press("Edit");
  await page.getByLabel("Name", { exact: true }).fill("Fishes");
  await store.staff.patch("/categories/1", { description: "Swims and hides." });
  await press("Save");
  await page.getByText("it is now “Fish”, Swims and hides.").waitFor();
  await press("Save");
  await page.getByRole("row", { name: /^Fishes Swims and hides\./ }).waitFor();
  expect(await category()).toMatchObject({ name: "Fishes", description: "Swims and hides." });

  await press("Edit");
  await page.getByLabel("Description").fill("");
  await press("Save");
  await page.getByRole("row", { name: /^Fishes –/ }).waitFor();
  expect((await category()).description).toBeUndefined();
  expect(visitor.faults).toEqual([]);
});

test("a client that is renamed keeps the numbers that were agreed with it meanwhile, and one that gets a plan needs none", async () => {
  await using store = await aStore();
  const zoo = { name: "Zoo", plan: "enterprise", perMinute: 500, perDay: 9000 };
  const { id } = (await store.admin.post("/admin/clients", zoo)).body;
  await using visitor = await signedIn(store, store.admin, [`clients/${id}`, "Zoo active"]);
  const { page, press } = visitor;
  const client = async () => (await store.admin.get(`/admin/clients/${id}`)).body;
  await press("Edit");
  await page.getByLabel("Name", { exact: true }).fill("Zoo Nord");
  await store.admin.patch(`/admin/clients/${id}`, { perMinute: 600 });
  await press("Save");
  await page.getByText("it is now “Zoo”, enterprise, 600 a minute, 9,000 a day.").waitFor();
  await press("Save");
  await page.getByRole("heading", { name: "Zoo Nord active" }).waitFor();
  expect(await client()).toMatchObject({ ...zoo, name: "Zoo Nord", perMinute: 600 });

  await press("Edit");
  await page.getByLabel("Plan").selectOption("pro");
  await press("Save");
  await page.getByText("300", { exact: true }).waitFor();
  expect(await client()).toMatchObject({ plan: "pro", perMinute: 300, perDay: 10_000 });
  // What the plan had already is agreed anew.
  await press("Edit");
  await page.getByLabel("Plan").selectOption("enterprise");
  await page.getByLabel("Requests a minute").fill("300");
  await page.getByRole("textbox", { name: "Requests a day" }).fill("20000");
  await press("Save");
  await page.getByText("20,000", { exact: true }).waitFor();
  expect(await client()).toMatchObject({ plan: "enterprise", perMinute: 300, perDay: 20_000 });
  // Nothing was saved that is not said: a number that was agreed cannot be left out.
  await press("Edit");
  await page.getByLabel("Requests a minute").fill("");
  await press("Save");
  await page.getByText("Must be given: enterprise has no numbers of its own.").waitFor();
  expect(await client()).toMatchObject({ plan: "enterprise", perMinute: 300, perDay: 20_000 });
  expect(visitor.faults).toEqual([]);
});

test("line breaks of a description stay when something else is changed, and can be entered", async () => {
  await using store = await aStore();
  const description = "Swims.\r\n\r\n\tHides.\n";
  await store.staff.post("/categories", { name: "Fish", description });
  await using visitor = await signedIn(store, store.staff, ["categories", "Categories"]);
  const { page, press } = visitor;
  const category = async () => (await store.staff.get("/categories/1")).body;
  const shown = page.getByRole("row", { name: /Swims/ }).getByRole("cell").first();
  expect(await shown.innerText()).toContain("Swims.\n\n");
  await press("Edit");
  await page.getByLabel("Name", { exact: true }).fill("Fishes");
  await press("Save");
  await page.getByRole("row", { name: /^Fishes/ }).waitFor();
  expect(await category()).toMatchObject({ name: "Fishes", description });

  await press("Edit");
  await page.getByLabel("Description").fill("One.");
  await page.getByLabel("Description").press("Enter");
  await page.keyboard.type("Two.");
  await press("Save");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await until(async () => (await category()).description === "One.\nTwo.");
  expect(visitor.faults).toEqual([]);
});
