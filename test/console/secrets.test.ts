import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { aStore, type Person } from "../harness.ts";
import { aHook, PRIVATE } from "../webhooks/receiver.ts";
import { until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();
const url = "http://127.0.0.1:9/events";

test("a webhook's new secret that was lost on the way is told of until that is read, with what keeps the old one working", async () => {
  await using store = await aStore(PRIVATE);
  const hook = await aHook(store.staff, { url });
  await using visitor = await signedIn(store, store.staff, [`webhooks/${hook.id}`, "Webhook 1 active"]);
  const { page, press } = visitor;
  const dialog = page.getByRole("dialog", { name: "The secret of webhook 1", exact: true });
  const replace = async (hours: string) => {
    await press("Replace secret");
    await page.getByLabel("Sign with the old secret too for so many hours").fill(hours);
    await loseAnswer(page, "**/webhooks/1/rotation");
    await press("Replace the secret");
  };
  await replace("24");
  await dialog.getByText("Make another webhook instead, and remove this one when your program").waitFor();
  await page.evaluate("location.hash = '#/webhooks'");
  await page.getByRole("heading", { name: "Webhooks", level: 1, includeHidden: true }).waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await dialog.waitFor({ state: "detached" });
  await visitor.open("webhooks/1", "Webhook 1 active");
  // Without an overlap there is no old one to lose.
  await replace("0");
  await dialog.getByText("Replace it: your program knows none that works.").waitFor();
  expect(visitor.faults).toEqual([]);
});

test("a new key whose text was lost on the way is told of until that is read, with its number", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, ["account", "Account"]);
  const { page, press } = visitor;
  await press("Make a key");
  await loseAnswer(page, "**/account/keys");
  await press("Make the key");
  const dialog = page.getByRole("dialog", { name: "The new key" });
  await dialog
    .getByText(/^It was lost on the way, .* Revoke it, it is key \d+, and make another\.$/)
    .waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect((await store.staff.get("/account/keys")).body).toHaveLength(2);
  expect(visitor.faults).toEqual([]);
});

test("what is shown this once is shown at once, even if it took the last request of the minute", async () => {
  await using store = await aStore(PRIVATE);
  const shop = await store.newPerson("staff", { quota: { perMinute: 10, perDay: 1000 } });
  await aHook(shop, { url });
  await using visitor = await signedIn(store, shop, ["webhooks/1", "Webhook 1 active"]);
  const { page, press } = visitor;
  const notice = page.locator(".holding", { hasText: "are spent" });
  await spendAllButOne(shop);
  await press("Replace secret");
  await press("Replace the secret");
  expect(await page.getByRole("textbox", { name: "The secret of webhook 1" }).inputValue()).toStartWith(
    "whsec_",
  );
  await notice.waitFor();

  for (const [opens, sends] of [
    ["Make a key", "Make the key"],
    ["Rotate", "Rotate"],
  ] as const) {
    store.clock.now += 60_000;
    await page.reload();
    await visitor.open("account", "Account");
    await spendAllButOne(shop);
    await press(opens);
    await press(sends);
    expect(await page.getByRole("textbox", { name: "The new key" }).inputValue()).toStartWith("ps_live_");
    await notice.waitFor();
  }
  expect(visitor.faults).toEqual([]);
});

test("whoever ends the own key by rotating it reads the new one first, and then signs in with it", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, ["account", "Account"]);
  const { page, press } = visitor;
  const shown = page.getByRole("textbox", { name: "The new key" });
  const refused = page.waitForResponse((response) => response.status() === 401);
  await press("Rotate");
  await page.getByLabel("The old key still works").fill("0");
  await press("Rotate");
  await shown.waitFor();
  await refused;
  await page.evaluate("location.hash = '#/categories'");
  await page.getByRole("heading", { name: "Categories", includeHidden: true, level: 1 }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(1);
  const key = await shown.inputValue();
  await press("I have kept it");
  const asked = page.getByRole("dialog", { name: "You are signed out" });
  await asked.getByLabel("API key").fill(key);
  await press("Sign in");
  await asked.waitFor({ state: "detached" });
  await page.getByText(`staff key …${key.slice(-4)}`).waitFor();
  expect(visitor.faults).toEqual([]);
});

test("a secret that is shown stays while the page is left, and the browser asks before it is closed; when it is kept nothing asks", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.staff, ["pets", "Pets"]);
  const { page, press } = visitor;
  let asked = 0;
  page.on("dialog", (question) => {
    asked += 1;
    return question.dismiss();
  });
  await visitor.open("account", "Account");
  await press("Make a key");
  await press("Make the key");
  const shown = page.getByRole("textbox", { name: "The new key" });
  const key = await shown.inputValue();
  await page.goBack();
  await page.getByRole("heading", { name: "Pets", includeHidden: true, level: 1 }).waitFor();
  await page.goForward();
  await page.getByRole("heading", { name: "Account", includeHidden: true, level: 1 }).waitFor();
  for (const each of ["Escape", "Escape", "Escape"]) await page.keyboard.press(each);
  expect(await shown.inputValue()).toBe(key);
  await page.evaluate("location.reload()");
  await until(async () => asked === 1);
  expect(await shown.inputValue()).toBe(key);
  await press("I have kept it");
  await page.reload();
  await page.getByRole("heading", { name: "Account" }).waitFor();
  expect(asked).toBe(1);
  expect(await page.content()).not.toContain(key);
  expect(visitor.faults).toEqual([]);
});

/** The answer to the next POST there does not arrive; the client asks again by itself. */
async function loseAnswer(page: Page, address: string): Promise<void> {
  let isLost = false;
  await page.route(address, async (route) => {
    if (isLost || route.request().method() !== "POST") return route.fallback();
    isLost = true;
    await route.fetch();
    return route.abort();
  });
}

/** Uses up what is left of the minute but for one request. */
async function spendAllButOne(person: Person): Promise<void> {
  while ((await person.get("/account/limits")).body.minute.remaining > 1) await person.get("/categories");
}
