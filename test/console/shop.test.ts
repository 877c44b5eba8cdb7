import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import { aVisitor, theBrowser, until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const browser = theBrowser();
const signedIn = visitors(browser);

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
  await using visitor = await signedIn(store, store.staff, [`pets/${rex.id}`, /^Rex/]);
  const { page } = visitor;
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
  await using visitor = await signedIn(store, store.staff, [`pets/${rex.id}`, /^Rex/]);
  const { page } = visitor;
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
  await using visitor = await signedIn(store, store.staff, [`pets/${rex.id}`, /^Rex/]);
  const { page } = visitor;
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
  await using visitor = await signedIn(store, store.staff, [`pets/${rex.id}`, /^Rex/]);
  const { page } = visitor;
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
  await using visitor = await signedIn(store, store.staff, ["pets", "Pets"]);
  const { page } = visitor;
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

test("a refusal says what to do in the shop, names no request, and offers no try that cannot help", async () => {
  await using store = await aStore();
  await store.aPet(1, "Rex");
  const till = await store.newPerson("staff");
  await using visitor = await signedIn(store, till, ["categories", "Categories"], {
    timezoneId: "Asia/Tokyo",
    locale: "en-US",
  });
  const { page } = visitor;
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

test("pets have the names of their categories, however many there are, and few requests are made for them", async () => {
  await using store = await aStore();
  for (let made = 1; made <= 450; made++) await store.staff.post("/categories", { name: `Kind ${made}` });
  const kinds = Array.from({ length: 50 }, (_, each) => 400 - each * 5);
  const pets = kinds.map((categoryId) => ({ name: `Of kind ${categoryId}`, categoryId }));
  await store.staff.post("/pets/batch", [...pets, { name: "Last", categoryId: 450 }]);
  await using visitor = await signedIn(store, store.staff, ["categories", "Categories"]);
  const { page } = visitor;
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
  const askedForCategories = () => asked.splice(0).filter((path) => path.startsWith("/categories")).length;
  await visitor.open("pets", "Pets");
  for (const kind of kinds)
    await page.getByRole("row", { name: `Of kind ${kind} Kind ${kind} `, exact: false }).waitFor();
  expect(askedForCategories()).toBe(4);
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("row", { name: "Last Kind 450" }).waitFor();
  expect(askedForCategories()).toBe(1);
  expect(visitor.faults).toEqual([]);
});

test("a store with many pets is shown a page at a time", async () => {
  await using store = await aStore();
  const { categoryId } = await store.aPet(1, "Adam");
  const many = Array.from({ length: 120 }, (_, each) => ({ name: `Pet ${each}`, categoryId }));
  await store.staff.post("/pets/batch", many);
  await using visitor = await signedIn(store, store.staff, ["pets", "Pets"]);
  const { page } = visitor;
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

test("a filter that is refused leaves the refusal in the place of the list, and the next one brings it back", async () => {
  await using store = await aStore();
  await store.aPet(3, "Rex");
  await using visitor = await signedIn(store, store.staff, ["inventory", "Inventory"]);
  const { page } = visitor;
  const rows = page.locator("tbody tr");
  await until(async () => (await rows.count()) === 1);
  await page.getByLabel("At most").fill("1001");
  await page.getByRole("alert").getByText("1000").waitFor();
  expect(await rows.count()).toBe(0);
  await page.getByLabel("At most").fill("1000");
  await until(async () => (await rows.count()) === 1);
  expect(await page.getByRole("alert").count()).toBe(0);
});

test("a dialog goes with its page, unless it asks who is there", async () => {
  await using store = await aStore();
  const rex = await store.aPet(1, "Rex");
  const till = await store.newPerson("staff");
  await using visitor = await signedIn(store, till, ["pets", "Pets"]);
  const { page } = visitor;
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
