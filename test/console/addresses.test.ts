import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();

test("what an address asks for is in force and shown, though it is nothing to choose, and the list says what comes of it", async () => {
  await using store = await aStore();
  const { id: petId } = await store.aPet(5, "Rex");
  await store.customer.post("/store/orders", { petId });
  await using visitor = await signedIn(store, store.staff, ["", "Overview"]);
  const { page } = visitor;
  const said = page.getByRole("main").getByRole("alert");
  for (const [path, heading, label, value, words] of [
    ["pets?status=frozen", "Pets", "Status", "frozen", /status/],
    ["pets?categoryId=77", "Pets", "Category", "77", "No pet is like that."],
    ["pets?sort=tail", "Pets", "Order", "tail", /sort/],
    ["orders?complete=maybe", "Orders", "Which", "maybe", /complete/],
    ["orders?petId=rex", "Orders", "Pet number", "rex", "Pet number must be a whole number."],
    [
      "inventory?maxQuantity=few",
      "Inventory",
      "At most (up to 1,000)",
      "few",
      "At most (up to 1,000) must be a whole number.",
    ],
    ["events?kind=birds", "Live feed", "Show", "birds", /birds/],
  ] as const) {
    await visitor.open(path, heading);
    expect(await page.getByLabel(label, { exact: true }).inputValue()).toBe(value);
    await said.or(page.locator(".empty")).getByText(words).waitFor();
    expect([path, await page.locator("tbody tr").count()]).toEqual([path, 0]);
    expect(await said.getByRole("button").count()).toBe(0);
    expect(page.url()).toEndWith(`#/${path}`);
  }
  expect(visitor.faults).toEqual([]);
});

test("a number of more than 15 digits is nobody's, and is not taken for another one", async () => {
  await using store = await aStore();
  await store.aPet(1, "Rex");
  await using visitor = await signedIn(store, store.admin, ["", "Overview"]);
  const asked: string[] = [];
  visitor.page.on("request", (request) => void asked.push(request.url()));
  for (const path of [
    "pets/9007199254740993",
    "clients/0000000000000001",
    "webhooks/1/deliveries/9999999999999999",
  ]) {
    await visitor.open(path, "Not found");
    await visitor.reads("There is no such page.");
  }
  expect(asked.filter((url) => !url.includes("/console"))).toEqual([]);
  await visitor.open("pets/999999999999999", "Pet");
  await visitor.reads("There is no pet 999999999999999.");
});
