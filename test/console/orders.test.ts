import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import { aVisitor, theBrowser, until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const browser = theBrowser();
const signedIn = visitors(browser);

test("an order is placed, changed, completed, and another cancelled after a question", async () => {
  await using store = await aStore();
  await store.aPet(9, "Nemo");
  await using visitor = await signedIn(store, store.customer, ["orders", "Orders"]);
  const { page } = visitor;
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

test("an order whose units are changed keeps its ship date to the second, in the hour that clocks go through twice too", async () => {
  await using store = await aStore();
  const { id: petId } = await store.aPet(9, "Nemo");
  // The second 02:30 of that night in Berlin; a browser takes that text for the first.
  const shipDate = "2027-10-31T01:30:07.000Z";
  await store.customer.post("/store/orders", { petId, quantity: 2, shipDate });
  const options = { timezoneId: "Europe/Berlin" };
  await using visitor = await signedIn(store, store.customer, ["orders", "Orders"], options);
  const { page, press } = visitor;
  const change = async (label: string, text: string) => {
    await press("Change");
    await page.getByLabel(label).fill(text);
    await press("Save");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    return (await store.customer.get("/store/orders/1")).body;
  };
  expect(await change("Units", "3")).toMatchObject({ quantity: 3, shipDate });
  expect(await change("Ship date", "2027-11-01T08:15")).toMatchObject({
    quantity: 3,
    shipDate: "2027-11-01T07:15:00.000Z",
  });
  expect((await change("Ship date", "")).shipDate).toBeUndefined();
  expect((await change("Units", "4")).shipDate).toBeUndefined();
  expect(visitor.faults).toEqual([]);
});

test("orders are narrowed by state and ship date, and the address keeps that", async () => {
  await using store = await aStore();
  const { id: petId } = await store.aPet(9, "Nemo");
  for (const shipDate of ["2026-12-01T12:00:00Z", "2026-12-10T12:00:00Z", "2026-12-20T12:00:00Z"])
    await store.staff.post("/store/orders", { petId, shipDate });
  await store.staff.patch("/store/orders/3", { complete: true, shipDate: "2026-12-20T12:00:00Z" });
  await using visitor = await signedIn(store, store.staff, ["orders?from=2026-12-05", "Orders"]);
  const { page } = visitor;
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
