import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { aStore } from "../harness.ts";
import { until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();
const complaint = (page: Page, text: string) =>
  page.locator(".error").getByText(text, { exact: true }).waitFor();

test("whoever types a whole name and Enter before anything was asked has found the record", async () => {
  await using store = await aStore();
  const { categoryId } = await store.aPet(5, "Anna");
  // More than are offered before anything is typed.
  const fish = Array.from({ length: 30 }, (_, made) => ({ name: `Fish ${made}`, categoryId }));
  const named = ["Dory", "Dory", "Nemo"].map((name) => ({ name, categoryId }));
  await store.staff.post("/pets/batch", [...fish, ...named]);
  await using visitor = await signedIn(store, store.customer, ["orders", "Orders"]);
  const { page, press } = visitor;
  const type = async (name: string) => {
    await page.getByLabel("Pet", { exact: true }).fill("");
    await page.keyboard.type(name);
    await page.keyboard.press("Enter");
  };
  await press("Place an order");
  await type("Do");
  await complaint(page, "Choose one of the list, or give its number.");
  await type("dory");
  await complaint(page, "Choose one of the list, or give its number.");
  expect((await store.customer.get("/store/orders")).body).toEqual([]);
  await type("nemo");
  await page.getByRole("row", { name: /^Order 1 Nemo 1 open/ }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await press("Place an order");
  await type("#33");
  await page.getByRole("row", { name: /^Order 2 Dory 1 open/ }).waitFor();
  expect((await store.customer.get("/store/orders/2")).body.petId).toBe(33);
  expect(visitor.faults).toEqual([]);
});

test("of two with the same name none is taken, though only one was offered", async () => {
  await using store = await aStore();
  const { categoryId } = await store.aPet(5, "Nemo");
  const others = Array.from({ length: 30 }, (_, made) => ({ name: `Nemo's friend ${made}`, categoryId }));
  await store.staff.post("/pets/batch", [...others, { name: "Nemo", categoryId }]);
  await using visitor = await signedIn(store, store.customer, ["orders", "Orders"]);
  const { page, press } = visitor;
  await press("Place an order");
  const pet = page.getByLabel("Pet", { exact: true });
  await pet.pressSequentially("N");
  await until(async () => (await page.locator("datalist option").count()) === 20);
  await pet.pressSequentially("emo");
  await page.keyboard.press("Enter");
  await complaint(page, "Choose one of the list, or give its number.");
  expect((await store.customer.get("/store/orders")).body).toEqual([]);
});

test("what is not a whole number is said at its field, and not sent", async () => {
  await using store = await aStore();
  await store.aPet(5, "Rex");
  await using visitor = await signedIn(store, store.staff, ["inventory", "Inventory"]);
  const { page, press } = visitor;
  await press("Set stock");
  const units = page.getByLabel("Units that can be ordered");
  expect([await units.getAttribute("type"), await units.getAttribute("inputmode")]).toEqual([
    "text",
    "numeric",
  ]);
  for (const wrong of ["", "five", "1.5", "1e3", "0x10", "5 pets", "--5"]) {
    await units.fill(wrong);
    await press("Set the stock");
    await complaint(page, "Must be a whole number.");
    expect(await units.getAttribute("aria-invalid")).toBe("true");
    expect(await page.evaluate("document.activeElement.name")).toBe("quantity");
    await units.fill("4");
    expect(await units.inputValue()).toBe("4");
  }
  for (const [refused, why] of [
    ["-5", "Must be at least 0, got -5."],
    ["−5", "Must be at least 0, got -5."],
    ["99999999999999999999", /^Must be at most/],
  ] as const) {
    await units.fill(refused);
    await press("Set the stock");
    await page.locator(".error").getByText(why).waitFor();
    expect(await page.locator(".error:not(:empty)").allTextContents()).not.toContain(
      "Must be a whole number.",
    );
  }
  expect((await store.staff.get("/store/inventory/1")).body.quantity).toBe(5);
  await units.fill(" 0012 ");
  await page.mouse.wheel(0, 100);
  await press("Set the stock");
  await page.getByRole("row", { name: /^Rex .*12/ }).waitFor();
  expect((await store.staff.get("/store/inventory/1")).body.quantity).toBe(12);
  expect(visitor.faults).toEqual([]);
});
