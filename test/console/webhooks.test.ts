import { expect, test } from "bun:test";
import { aStore } from "../harness.ts";
import { aHook, aReceiver, deliveriesOf, newest, PRIVATE, verified } from "../webhooks/receiver.ts";
import { until } from "./browser.ts";
import { visitors } from "./signed-in.ts";

const signedIn = visitors();
const WEBHOOKS = ["webhooks", "Webhooks"] as const;

test("a customer makes a webhook for its orders, keeps the secret that is shown this once, and is told of its own next order alone", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  const rex = await store.aPet(5, "Rex");
  await using visitor = await signedIn(store, store.customer, WEBHOOKS);
  const { page, press, reads } = visitor;
  await reads("No webhook yet. Make one by the button above");
  await press("Make a webhook");
  expect(await page.getByLabel("order.placed").isVisible()).toBe(false);
  await page.getByLabel(/^Everything: pets/).uncheck();
  await page.getByLabel("order.placed").check();
  await page.getByLabel("Address").fill(receiver.url);
  await page.getByLabel("What it is for").fill("the web shop");
  await press("Make the webhook");
  const shown = page.getByRole("textbox", { name: "The secret of webhook 1" });
  const secret = await shown.inputValue();
  await page.keyboard.press("Escape");
  await press("Copy");
  await reads("Selected: press Ctrl-C.");
  await press("I have kept it");
  await page.getByRole("heading", { name: "Webhook 1 active" }).waitFor();
  expect(await page.evaluate("document.activeElement.tagName")).toBe("H1");

  await store.stranger.post("/store/orders", { petId: rex.id });
  const { body: order } = await store.customer.post("/store/orders", { petId: rex.id, quantity: 2 });
  expect(await verified(await receiver.nth(1), secret, store)).toMatchObject({
    type: "order.placed",
    data: { id: order.id, quantity: 2 },
  });
  await newest(store.customer, { id: 1, secret }, ({ state }) => state === "delivered");
  await press("Look again");
  await page
    .getByRole("row", { name: /^Delivery 1 order\.placed .* delivered Answered 204 in \d+ ms/ })
    .waitFor();
  await page.reload();
  await reads("the web shop");
  expect(await page.content()).not.toContain(secret.slice("whsec_".length));
  await visitor.open(...WEBHOOKS);
  await page.getByRole("row", { name: `${receiver.url} the web shop order.placed active –` }).waitFor();
  expect(receiver.received).toHaveLength(1);
  expect(visitor.faults).toEqual([]);
});

test("what is wrong with an address or a choice is said where it was entered, and so is a webhook too many; nothing is made", async () => {
  await using store = await aStore();
  await using visitor = await signedIn(store, store.customer, WEBHOOKS);
  const { page, press, reads } = visitor;
  await press("Make a webhook");
  const address = page.getByLabel("Address");
  const complaint = async () => {
    const ids = ((await address.getAttribute("aria-describedby")) as string).split(" ");
    return page.locator(`[id="${ids.at(-1)}"]`).textContent();
  };
  for (const [entered, says] of [
    ["", "Must be a whole address such as https://shop.example/events."],
    ["shop.example", "Must be a whole address such as https://shop.example/events."],
    ["http://shop.example", "Must begin with https://."],
    ["https://10.0.0.7/hook", "Must be public, and 10.0.0.7 is not."],
    ["https://me:secret@shop.example", "Must not have a user name or a password."],
  ] as const) {
    await address.fill(entered);
    await press("Make the webhook");
    await until(async () => (await complaint()) === says);
    expect(await page.evaluate("document.activeElement.name")).toBe("url");
  }
  await address.fill("https://shop.example/events");
  await page.getByLabel(/^Everything: pets/).uncheck();
  await press("Make the webhook");
  await reads(/^Must have at least 1 /);
  expect(await page.evaluate("document.activeElement.name")).toBe("types");
  expect((await store.customer.get("/webhooks")).body).toEqual([]);

  for (let made = 0; made < 20; made++) await aHook(store.customer, { url: "https://shop.example/full" });
  await page.getByLabel("order.placed").check();
  await press("Make the webhook");
  await page.getByRole("alert").getByText("The client has 20 webhooks, the most that it may have.").waitFor();
  expect(await address.inputValue()).toBe("https://shop.example/events");
  expect((await store.customer.get("/webhooks")).body).toHaveLength(20);
  expect(visitor.faults).toEqual([]);
});

test("a ping shows that it is on its way, then what came of it, and why it failed", async () => {
  await using store = await aStore(PRIVATE);
  const answering = Promise.withResolvers<Response>();
  await using receiver = aReceiver(() => answering.promise);
  const hook = await aHook(store.staff, { url: receiver.url });
  await using visitor = await signedIn(store, store.staff, [`webhooks/${hook.id}`, "Webhook 1 active"]);
  const { page, press, reads } = visitor;
  const outcome = page.getByRole("status");
  await reads("Nothing was sent yet. Ping it by the button above");
  await press("Ping");
  await outcome.getByText("pending The ping is on its way").waitFor();
  expect((await receiver.nth(1)).event).toMatchObject({ type: "webhook.ping" });
  answering.resolve(new Response(null, { status: 202 }));
  await outcome.getByText(/delivered Ping: Answered 202 in \d+ ms\./).waitFor();
  await page.getByRole("row", { name: /webhook\.ping, to try the webhook .* delivered/ }).waitFor();

  receiver.answer = () => new Response("no such page", { status: 404 });
  await press("Ping");
  await outcome.getByText("failed Ping: Answered 404. The receiver refused it.").waitFor();
  await page.getByLabel("Show").selectOption("delivered");
  await until(async () => (await page.getByRole("row", { name: /failed/ }).count()) === 0);
  await receiver[Symbol.asyncDispose]();
  await press("Ping");
  await outcome.getByText("failed Ping: Nobody listens at the address.").waitFor();
  expect(await page.locator("tbody tr").allTextContents()).toEqual([expect.stringContaining("delivered")]);

  await store.staff.patch(`/webhooks/${hook.id}`, { enabled: false });
  await press("Ping");
  await page
    .getByRole("dialog")
    .getByText("Webhook 1 is disabled. Enable it first.", { exact: true })
    .waitFor();
  expect(await deliveriesOf(store.staff, hook)).toHaveLength(3);
  expect(visitor.faults).toEqual([]);
});

test("staff finds a delivery that did not arrive, reads what was sent and answered, and sends it again until it arrives", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver(() => new Response("<b>out of paper</b>", { status: 503 }));
  const hook = await aHook(store.staff, { url: receiver.url, types: ["pet.created"] });
  await store.aPet(1, "Rex");
  await newest(store.staff, hook, ({ reason }) => reason !== undefined);
  await using visitor = await signedIn(store, store.staff, [`webhooks/${hook.id}`, "Webhook 1 failing"]);
  const { page, press, reads } = visitor;
  await reads(/^Every try has failed since Nov 15, 2026/);
  await page.getByLabel("Show").selectOption("failed");
  await reads("No delivery is failed. Show all above.");
  await page.getByLabel("Show").selectOption("pending");
  await page
    .getByRole("row", { name: /Answered 503\. The receiver is in trouble\. Next try Nov 15.* 1 Send again$/ })
    .waitFor();
  expect(page.url()).toEndWith("#/webhooks/1?state=pending");
  await page.getByRole("link", { name: "Delivery 1" }).click();
  await page.getByRole("heading", { name: "Delivery 1 pending" }).waitFor();
  await reads("<b>out of paper</b>");
  expect(JSON.parse((await page.getByLabel("What is sent").textContent()) as string)).toEqual(
    receiver.received[0]?.event,
  );

  const { promise: mended, resolve: mend } = Promise.withResolvers<void>();
  receiver.answer = async () => {
    await mended;
    return new Response("thanks");
  };
  await press("Send again");
  await page.getByRole("heading", { name: "Delivery 2 pending" }).waitFor();
  mend();
  await page.getByRole("heading", { name: "Delivery 2 delivered" }).waitFor();
  await reads("thanks");
  await reads("sent again");
  expect(receiver.received.map(({ id }) => id)).toEqual([1, 2].map(() => receiver.received[0]?.id as string));

  await visitor.open(`webhooks/${hook.id}`, "Webhook 1 active");
  await page
    .getByRole("row", { name: /^Delivery 1 / })
    .getByRole("button", { name: "Send again" })
    .click();
  await page.getByRole("row", { name: /^Delivery 3 .* delivered Answered 200/ }).waitFor();
  expect(receiver.received).toHaveLength(3);
  expect(visitor.faults).toEqual([]);
});

test("a webhook is changed in what was entered anew alone, and not over what somebody else changed meanwhile", async () => {
  await using store = await aStore(PRIVATE);
  const types = ["order.placed", "pet.created"];
  const hook = await aHook(store.customer, { url: "http://127.0.0.1:9/a", types, description: "till" });
  const stored = async () => (await store.customer.get(`/webhooks/${hook.id}`)).body;
  const other = await store.newPerson("customer", { clientId: store.customer.clientId });
  await using visitor = await signedIn(store, other, [`webhooks/${hook.id}`, "Webhook 1 active"]);
  const { page, press, reads } = visitor;
  await press("Edit");
  await reads("Another key made it or changed it last. Saving makes it act for yours.");
  await page.getByLabel("What it is for").fill("");
  await press("Save");
  await until(async () => (await stored()).description === undefined);
  expect(await stored()).toMatchObject({ types, url: "http://127.0.0.1:9/a", keyId: other.keyId });

  await until(async () => (await page.getByRole("dialog").count()) === 0);
  await press("Edit");
  await page.getByLabel(/^Everything/).check();
  await store.customer.patch(`/webhooks/${hook.id}`, { url: "http://127.0.0.1:9/b" });
  await press("Save");
  await reads(
    "Somebody changed this in the meantime: it is now http://127.0.0.1:9/b, which is sent order.placed, pet.created.",
  );
  expect((await stored()).types).toEqual(types);
  await press("Save");
  await until(async () => (await stored()).types === undefined);
  expect((await stored()).url).toBe("http://127.0.0.1:9/b");
  await reads("everything that it may see");
  expect(visitor.faults).toEqual([]);
});

test("a webhook is disabled and enabled, is sent again what it missed, and is removed after a question", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  const hook = await aHook(store.staff, { url: receiver.url, types: ["pet.created"] });
  await using visitor = await signedIn(store, store.staff, [`webhooks/${hook.id}`, "Webhook 1 active"]);
  const { page, press, reads } = visitor;
  await press("Disable");
  await press("Keep it as it is");
  expect((await store.staff.get(`/webhooks/${hook.id}`)).body.enabled).toBe(true);
  await press("Disable");
  await press("Disable the webhook");
  await page.getByRole("heading", { name: "Webhook 1 disabled" }).waitFor();
  await reads("Nothing is sent. Somebody disabled it.");
  expect(await page.locator("main").getByRole("button").allTextContents()).toEqual([
    "Edit",
    "Replace secret",
    "Enable",
    "Remove",
    "Look again",
  ]);
  await store.aPet(1, "Rex");
  await press("Enable");
  await page.getByRole("heading", { name: "Webhook 1 active" }).waitFor();

  await press("Send past events again");
  await press("Send them again");
  await until(async () => (await page.getByLabel("Since").getAttribute("aria-invalid")) === "true");
  await page.getByLabel("Since").fill("2026-11-14T00:00");
  await press("Send them again");
  await reads("Past events are being sent again.");
  expect((await receiver.nth(1)).event.data.name).toBe("Rex");
  await newest(store.staff, hook, ({ state }) => state === "delivered");
  await press("Look again");
  await page.getByRole("row", { name: /pet\.created, sent again with past events .* delivered/ }).waitFor();

  await press("Remove");
  await press("Keep it as it is");
  expect((await store.staff.get("/webhooks")).body).toHaveLength(1);
  await press("Remove");
  await press("Remove the webhook");
  await page.getByRole("heading", { name: "Webhooks" }).waitFor();
  await reads("No webhook yet.");
  expect((await store.staff.get("/webhooks")).body).toEqual([]);
  expect(receiver.received).toHaveLength(1);
  expect(visitor.faults).toEqual([]);
});

test("the secret is replaced: for the hours that were given both verify, and the new one is shown this once", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver();
  const hook = await aHook(store.staff, { url: receiver.url });
  await using visitor = await signedIn(store, store.staff, [`webhooks/${hook.id}`, "Webhook 1 active"]);
  const { page, press, reads } = visitor;
  await press("Replace secret");
  const hours = page.getByLabel("Sign with the old secret too for so many hours");
  await hours.fill("169");
  await press("Replace the secret");
  await reads(/^Must be .*168/);
  await hours.fill("2");
  await press("Replace the secret");
  const secret = await page.getByRole("textbox", { name: "The secret of webhook 1" }).inputValue();
  await press("I have kept it");
  await reads("Signed with the old secret too until");
  await press("Ping");
  const sent = await receiver.nth(1);
  expect(await verified(sent, secret, store)).toEqual(sent.event);
  expect(await verified(sent, hook.secret, store)).toEqual(sent.event);
  await press("Replace secret");
  await reads("It was replaced lately: the one before the current secret stops working at once.");
  expect(visitor.faults).toEqual([]);
});

test("a receiver that is gone is told of in words, and webhooks of staff and of other clients are not shown", async () => {
  await using store = await aStore(PRIVATE);
  await using receiver = aReceiver(() => new Response(null, { status: 410 }));
  const hook = await aHook(store.customer, { url: receiver.url, types: ["pet.created"] });
  const clerk = await store.newPerson("staff", { clientId: store.customer.clientId });
  const hidden = await aHook(clerk, { url: "http://127.0.0.1:9/clerk", types: ["order.placed"] });
  await store.aPet(1, "Rex");
  await newest(store.customer, hook, ({ reason }) => reason === "gone");
  await using visitor = await signedIn(store, store.customer, WEBHOOKS);
  const { page, reads } = visitor;
  const gone = "Its receiver answered that it is gone for good (410).";
  await page.getByRole("row", { name: `${receiver.url} pet.created disabled ${gone}` }).waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
  await visitor.open(`webhooks/${hook.id}`, "Webhook 1 disabled");
  await reads(`Nothing is sent. ${gone} When it is enabled, what still waits is sent, and then what happens`);
  await visitor.open(`webhooks/${hidden.id}`, "Webhook");
  await page
    .getByRole("alert")
    .getByText("There is no webhook 2. It may have been removed meanwhile.")
    .waitFor();
  await visitor.open(`webhooks/${hook.id}/deliveries/99`, "Delivery");
  await page.getByRole("alert").getByText("Webhook 1 has no delivery 99, or it is no longer kept.").waitFor();
  expect(visitor.faults).toEqual([]);
});
