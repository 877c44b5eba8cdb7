import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import { aHook, aReceiver, newest, PRIVATE } from "../webhooks/receiver.ts";
import { until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();

test("an operator finds a client's webhook, reads what it was sent and disables it; the client sees why, and can neither enable, change nor remove it", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver(() => new Response("<i>stop this</i>", { status: 400 }));
  const hook = await aHook(store.customer, {
    url: receiver.url,
    types: ["pet.created"],
    description: "shop",
  });
  await aHook(store.stranger, { url: "http://127.0.0.1:9/other", types: ["order.placed"] });
  await store.aPet(1, "Rex");
  await newest(store.customer, hook, ({ reason }) => reason !== undefined);
  await using operator = await signedIn(store, store.admin, [
    `clients/${store.customer.clientId}`,
    /^client of a customer/,
  ]);
  const { page } = operator;
  await page.getByRole("link", { name: "To its webhooks" }).click();
  await page.getByRole("row", { name: `${receiver.url} shop client of a customer failing` }).waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
  await page.getByRole("link", { name: receiver.url }).click();
  await page.getByRole("heading", { name: "Webhook 1 failing" }).waitFor();
  await operator.press("Show");
  const dialog = page.getByRole("dialog", { name: "Delivery 1" });
  await dialog.getByText("<i>stop this</i>").waitFor();
  await dialog.getByText("Answered 400. The receiver refused it.").waitFor();
  expect(JSON.parse((await dialog.getByLabel("What is sent").textContent()) as string)).toEqual(
    receiver.received[0]?.event,
  );
  await operator.press("Close");
  await operator.press("Disable");
  await operator.press("Keep it as it is");
  expect((await store.customer.get("/webhooks/1")).body.enabled).toBe(true);
  await operator.press("Disable");
  await operator.press("Disable the webhook");
  await operator.reads("Nothing is sent. The operator of the store disabled it.");

  await using client = await signedIn(store, store.customer, ["webhooks/1", "Webhook 1 disabled"]);
  await client.reads("Ask the operator to enable it again; until then it cannot be changed or removed");
  await client.reads("Next try when the webhook is enabled");
  expect(await client.page.locator(".page-acts").getByRole("button").allTextContents()).toEqual([
    "Replace secret",
  ]);
  await client.open("webhooks", "Webhooks");
  await client.press("Make a webhook");
  await client.page.getByLabel("Address").fill(`${receiver.url}?anew`);
  await client.press("Make the webhook");
  await client.page
    .getByRole("alert")
    .getByText(/^The operator has disabled a webhook of this client/)
    .waitFor();
  expect((await store.customer.get("/webhooks")).body).toHaveLength(1);

  await operator.press("Enable");
  await operator.press("Enable the webhook");
  await page.getByRole("heading", { name: "Webhook 1 active" }).waitFor();
  expect((await store.customer.get("/webhooks/1")).body).toMatchObject({
    enabled: true,
    keyId: store.customer.keyId,
  });
  await operator.open("audit", "Audit trail");
  expect(await page.getByRole("row", { name: /admin\.webhooks\.update .* webhooks\/1/ }).count()).toBe(2);
  expect([...operator.faults, ...client.faults]).toEqual([]);
});

test("an operator narrows the webhooks of all clients by client and state, and keeps disabled what its client disabled", async () => {
  await using store = await aStore();
  const url = "https://shop.example/events";
  const [first, second] = [await aHook(store.customer, { url }), await aHook(store.stranger, { url })];
  await store.stranger.patch(`/webhooks/${second.id}`, { enabled: false });
  await using visitor = await signedIn(store, store.admin, ["all-webhooks", "All webhooks"]);
  const { page, press, reads } = visitor;
  const rows = async () => (await page.getByRole("row").count()) - 1;
  expect(await rows()).toBe(2);
  await page.getByLabel("State").selectOption("disabled");
  await until(async () => (await rows()) === 1);
  await page.getByRole("row", { name: /disabled Somebody disabled it\./ }).waitFor();
  await page.getByLabel("Client").selectOption(String(store.customer.clientId));
  await reads("No webhook is like that. Ask for less above.");
  expect(page.url()).toEndWith(`#/all-webhooks?clientId=${store.customer.clientId}&enabled=false`);
  await page.getByLabel("State").selectOption("enabled");
  await until(async () => (await rows()) === 1);
  await press("Disable");
  await press("Disable the webhook");
  await reads("No webhook is like that.");
  expect((await store.customer.get(`/webhooks/${first.id}`)).body.disabledReason).toBe("operator");

  await visitor.open(`all-webhooks/${second.id}`, "Webhook 2 disabled");
  await reads("Nothing was sent yet, or it is no longer kept.");
  await press("Enable");
  await reads("Its own client disabled it. It is sent what happens from now on.");
  await press("Keep it as it is");
  await press("Keep it disabled");
  await press("Disable the webhook");
  await reads("The operator of the store disabled it.");
  expect(await page.getByRole("button", { name: "Keep it disabled" }).count()).toBe(0);
  expect((await store.stranger.patch(`/webhooks/${second.id}`, { enabled: true })).status).toBe(409);
  expect(visitor.faults).toEqual([]);
});

test("webhooks of all clients are for admins alone", async () => {
  await using store = await aStore();
  const hook = await aHook(store.customer, { url: "https://shop.example/events" });
  await using visitor = await signedIn(store, store.staff, ["all-webhooks", "Not for this key"]);
  const { page } = visitor;
  expect(await page.getByRole("link", { name: "All webhooks" }).count()).toBe(0);
  await visitor.open("webhooks", "Webhooks");
  await page.getByText("No webhook yet.").waitFor();
  await visitor.open(`all-webhooks/${hook.id}`, "Not for this key");
  expect(await page.content()).not.toContain("shop.example");
});

test("a webhook is made, tried and removed with the keyboard alone", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  await using visitor = await signedIn(store, store.staff, ["webhooks", "Webhooks"]);
  const { page } = visitor;
  const { keyboard } = page;
  const focused = () =>
    page.evaluate(
      "document.activeElement.labels?.[0]?.textContent || document.activeElement.textContent",
    ) as Promise<string>;
  const tabTo = async (wanted: string) => {
    for (let presses = 0; presses < 60 && (await focused()) !== wanted; presses++)
      await keyboard.press("Tab");
    expect(await focused()).toBe(wanted);
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
  };
  await tabTo("Make a webhook");
  await keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  expect(await focused()).toBe("Address");
  await keyboard.type(receiver.url);
  await tabTo("Everything that your key may see, of all clients");
  await keyboard.press("Space");
  await tabTo("pet.created");
  await keyboard.press("Space");
  await keyboard.press("Enter");
  await page.getByRole("textbox", { name: "The secret of webhook 1" }).waitFor();
  await tabTo("I have kept it");
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "Webhook 1 active" }).waitFor();
  expect((await store.staff.get("/webhooks/1")).body.types).toEqual(["pet.created"]);
  expect(await focused()).toBe("Webhook 1 active");
  await tabTo("Ping");
  await keyboard.press("Enter");
  await page
    .getByRole("status")
    .getByText(/delivered Ping: Answered 204/)
    .waitFor();
  expect(await focused()).toBe("Ping");
  await tabTo("Remove");
  await keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  expect(await focused()).toBe("Keep it as it is");
  await tabTo("Remove the webhook");
  await keyboard.press("Enter");
  await page.getByText("No webhook yet.").waitFor();
  expect((await store.staff.get("/webhooks")).body).toEqual([]);
});

test("times of deliveries and their tries are told to the second, in the reader's own zone", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver(() => new Response("", { status: 503 }));
  const hook = await aHook(store.staff, { url: receiver.url, types: ["category.created"] });
  store.clock.now += 7 * 1000;
  await store.staff.post("/categories", { name: "Dogs" });
  const { nextAttemptAt } = await newest(store.staff, hook, ({ reason }) => reason !== undefined);
  const [next] = /\d\d:\d\d(?=\.)/.exec(nextAttemptAt) as RegExpExecArray;
  const berlin = { timezoneId: "Europe/Berlin", locale: "en-GB" };
  await using visitor = await signedIn(store, store.staff, [`webhooks/${hook.id}`, /^Webhook/], berlin);
  const { page } = visitor;
  const row = page.getByRole("row", { name: /^Delivery/ }).last();
  expect(await row.textContent()).toMatch(
    new RegExp(`15 Nov 2026, 13:00:07.*Next try 15 Nov 2026, 13:${next}`),
  );
  await row.getByRole("link").click();
  await page.getByRole("heading", { name: /^Delivery/ }).waitFor();
  for (const [what, second] of [
    ["Made", "00:07"],
    ["Last try", "00:07"],
    ["Next try", next],
  ] as const)
    await page
      .locator("dt", { hasText: what })
      .locator("+ dd", { hasText: `15 Nov 2026, 13:${second}` })
      .waitFor();
});

test("what is sent is shown as it is sent, also a number that a browser cannot hold", async () => {
  await using store = await aStore();
  const hook = await aHook(store.staff, { url: "https://shop.example/events" });
  await store.staff.post(`/webhooks/${hook.id}/ping`, undefined);
  await newest(store.staff, hook, ({ state }) => state === "failed");
  const body = '{"data":{"id":9007199254740993}}';
  await store.beside.db.rows(`update webhook_deliveries set body = '${body}' where id = 1 returning id`);
  await using visitor = await signedIn(store, store.staff, ["webhooks/1/deliveries/1", "Delivery 1 failed"]);
  expect(await visitor.page.getByLabel("What is sent").textContent()).toBe(body);
  await visitor.reads("The name in the address leads nowhere, or to an address that is not public.");
});
