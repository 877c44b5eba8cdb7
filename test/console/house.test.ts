import { expect, test } from "bun:test";
import { operator } from "../../src/core/clients.ts";
import { aStore, type Person } from "../harness.ts";
import { aVisitor, theBrowser, until } from "./browser.ts";

const browser = theBrowser();

test("an admin makes a client and its key, which is shown this once and works; bans and lifts it; suspends and removes the client", async () => {
  await using store = await aStore();
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  const press = (name: string) => page.getByRole("button", { name, exact: true }).last().click();
  // As over plain HTTP from another machine.
  await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await visitor.enter(store.admin);
  await visitor.open("clients", "Clients");
  await press("Add a client");
  await page.getByLabel("Name").fill("Zoo Nord");
  await page.getByLabel("Plan").selectOption("enterprise");
  await press("Add the client");
  await until(async () => (await page.locator("[aria-invalid=true]").count()) === 2);
  await page.getByLabel("Requests a minute").fill("500");
  await page.getByLabel("Requests a day").fill("90000");
  await press("Add the client");
  await page.getByRole("heading", { name: /^Zoo Nord/ }).waitFor();
  const clientId = Number(page.url().split("/").at(-1));
  expect((await store.admin.get(`/admin/clients/${clientId}`)).body).toMatchObject({
    perMinute: 500,
    perDay: 90000,
  });

  await press("Make a key");
  await page.getByLabel("What it is for").fill("web shop");
  await press("Make the key");
  const key = await page.getByRole("textbox", { name: "The new key" }).inputValue();
  await page.keyboard.press("Escape");
  expect(await page.getByRole("textbox", { name: "The new key" }).inputValue()).toBe(key);
  await press("Copy");
  await page.getByText("Selected: press Ctrl-C.").waitFor();
  await press("I have kept it");
  const asZoo = () => fetch(`${store.url}/account`, { headers: { "x-api-key": key } });
  expect(((await (await asZoo()).json()) as { client: { id: number } }).client.id).toBe(clientId);
  await page.reload();
  const { id: keyId } = (await store.admin.get(`/admin/clients/${clientId}/keys`)).body[0];
  await page.getByRole("row", { name: new RegExp(`^web shop …\\w{4} ${keyId} customer`) }).waitFor();
  expect(await page.content()).not.toContain(key);

  await press("Ban");
  await page.getByLabel("Reason").fill("Leaked");
  await press("Ban the key");
  await page.getByRole("row", { name: /web shop .*banned/ }).waitFor();
  expect((await asZoo()).status).toBe(403);
  await visitor.open("bans", "Bans");
  await page.getByRole("row", { name: /Leaked/ }).waitFor();
  await press("Lift");
  await press("Lift the ban");
  await page.getByText("No key is banned.").waitFor();
  expect((await asZoo()).status).toBe(200);

  await visitor.open(`clients/${clientId}`, /^Zoo Nord/);
  await press("Suspend");
  await press("Suspend");
  await page.getByRole("heading", { name: "Zoo Nord suspended" }).waitFor();
  expect((await asZoo()).status).toBe(403);
  await press("Remove");
  await press("Remove the client");
  await page.getByRole("heading", { name: "Clients" }).waitFor();
  expect((await store.admin.get(`/admin/clients/${clientId}`)).status).toBe(404);
  await visitor.open("audit", "Audit trail");
  await page.getByRole("row", { name: /admin\.clients\.remove/ }).waitFor();
  const own = await store.beside.transact((writes) => operator(writes, store.clock.now));
  await visitor.open(`clients/${own.id}`, "operator active");
  expect(await page.locator(".page-acts button").allTextContents()).toEqual(["Edit"]);
  expect(visitor.faults).toEqual([]);
});

test("a client rotates and revokes its own keys, up to its own role", async () => {
  await using store = await aStore();
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(store.staff);
  await visitor.open("account", "Account");
  await page.getByRole("button", { name: "Make a key" }).click();
  expect(await page.getByLabel("Role").locator("option").allTextContents()).toEqual(["customer", "staff"]);
  await page.getByLabel("What it is for").fill("till 2");
  await page.getByRole("button", { name: "Make the key" }).click();
  await page.getByRole("button", { name: "I have kept it" }).click();
  const row = page.getByRole("row", { name: /till 2/ });
  await row.getByRole("button", { name: "Rotate" }).click();
  await page.getByLabel("The old key still works").fill("0");
  await page.getByRole("button", { name: "Rotate" }).last().click();
  const key = await page.getByRole("textbox", { name: "The new key" }).inputValue();
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByRole("row", { name: /till 2 .*revoked/ }).waitFor();
  const asTill = () => fetch(`${store.url}/account`, { headers: { "x-api-key": key } });
  expect((await asTill()).status).toBe(200);
  await page
    .getByRole("row", { name: /till 2 .*active/ })
    .getByRole("button", { name: "Revoke" })
    .click();
  await page.getByRole("button", { name: "Revoke the key" }).click();
  await until(async () => (await asTill()).status === 401);
  expect(visitor.faults).toEqual([]);
});

test("requests are plotted by day, status, operation and client, and are there as numbers too", async () => {
  await using store = await aStore();
  await store.aPet(1, "Rex");
  for (let each = 0; each < 7; each++) await store.customer.get("/categories");
  for (let each = 0; each < 3; each++) await store.customer.get("/pets/999");
  await using visitor = await aVisitor(browser, store, { viewport: { width: 1200, height: 800 } });
  const { page } = visitor;
  // The page asks for the days up to its own today, and the store's today is the test's.
  await page.clock.setFixedTime(store.clock.now);
  await visitor.signIn(store.admin);
  const operations = page.locator("figure", { hasText: "By operation" });
  // What was counted is written down a moment later.
  await until(async () => {
    await visitor.open("account", "Account");
    await visitor.open("?days=7", "Overview");
    return (await operations.locator("li", { hasText: "categories.list7" }).count()) === 1;
  });
  await page.locator("figure", { hasText: "By client" }).getByRole("link").first().waitFor();
  await page.getByText("The same as a table").click();
  const cells = await page
    .getByRole("row", { name: /^2026-11-15/ })
    .getByRole("cell")
    .allTextContents();
  expect(cells).toHaveLength(2);
  expect(Number(cells[1])).toBe(3);
  expect(await page.locator(".plot rect.fill").count()).toBe(2);
  await page.getByRole("link", { name: "own client" }).click();
  await page.getByRole("heading", { name: "Requests of client of a admin" }).waitFor();
  expect(visitor.faults).toEqual([]);
});

test("when the requests of the minute are spent the page says so, waits, and goes on by itself", async () => {
  await using store = await aStore();
  await store.aPet(1, "Rex");
  const shop = await store.newPerson("customer", { quota: { perMinute: 5, perDay: 1000 } });
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.signIn(shop);
  await page.clock.install();
  await page.getByRole("link", { name: "Pets", exact: true }).click();
  await page.getByRole("heading", { name: "Pets" }).waitFor();
  await page.getByRole("link", { name: "Orders", exact: true }).click();
  await page.locator(".holding", { hasText: "are spent. Going on by itself in 60 s." }).waitFor();
  // Whoever clicks on meanwhile, past the grace, earns no strikes: nothing is sent.
  store.clock.now += 3000;
  for (const name of ["Inventory", "Categories", "Orders"])
    await page.getByRole("link", { name, exact: true }).click();
  expect((await shop.get("/account/limits")).body.strikes.count).toBe(0);
  store.clock.now += 57_000;
  await page.clock.runFor(61_000);
  await page.getByText("There are no orders yet.").waitFor();
  await page.locator(".holding", { hasText: "are spent" }).waitFor({ state: "detached" });
  expect((await store.admin.get("/admin/bans")).body).toEqual([]);
});

test("a page that is opened while the minute is spent says so, and comes up by itself", async () => {
  await using store = await aStore();
  const shop = await store.newPerson("customer", { quota: { perMinute: 5, perDay: 1000 } });
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.signIn(shop);
  await spend(shop);
  await page.clock.install();
  await page.reload();
  const notice = page.locator(".holding", { hasText: "are spent. Going on by itself in" });
  await notice.waitFor();
  expect(await page.getByRole("heading").count()).toBe(0);
  store.clock.now += 60_000;
  await page.clock.runFor(61_000);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await notice.waitFor({ state: "detached" });
  expect(visitor.faults).toEqual([]);
});

test("whoever pauses the feed while the minute is spent is no longer told to wait", async () => {
  await using store = await aStore();
  const shop = await store.newPerson("customer", { quota: { perMinute: 5, perDay: 1000 } });
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.signIn(shop);
  await spend(shop);
  const notice = page.locator(".holding", { hasText: "are spent" });
  await page.getByRole("link", { name: "Live feed" }).click();
  await notice.waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await notice.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Go on" }).click();
  await notice.waitFor();
  expect(visitor.faults).toEqual([]);
});

test("when the day's requests are spent, or the server is away, that is said and can be tried again", async () => {
  await using store = await aStore();
  const shop = await store.newPerson("customer", { quota: { perMinute: 100, perDay: 4 } });
  await using visitor = await aVisitor(browser, store);
  const { page } = visitor;
  await visitor.enter(shop);
  await visitor.open("categories", "Categories");
  await visitor.open("inventory", "Inventory");
  await visitor.open("account", "Account");
  const alert = page.getByRole("alert");
  await alert
    .getByText(/^All 4 requests of today \(UTC\) are spent\. Come back after \w+ \d+, \d+/)
    .waitFor();
  store.clock.now += 3000;
  for (const [path, heading] of [
    ["inventory", "Inventory"],
    ["account", "Account"],
  ] as const) {
    await visitor.open(path, heading);
    await alert.getByText(/are spent/).waitFor();
  }
  expect((await shop.get("/account/limits")).body.strikes.count).toBe(0);
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Try again" }).click();
  await alert.getByText("The server could not be reached").waitFor();
  await page.context().setOffline(false);
  await store.admin.patch(`/admin/clients/${shop.clientId}`, { plan: "pro" });
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("row", { name: /customer/ }).waitFor();
});

/** Uses up what is left of the minute. */
async function spend(person: Person): Promise<void> {
  while ((await person.get("/account/limits")).body.minute.remaining > 0) await person.get("/categories");
}
