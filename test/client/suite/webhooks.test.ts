import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { type StoreEvent, verifyWebhook, WebhookError } from "../../../client/src/index.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const other = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const event = {
  specversion: "1.0",
  id: "42",
  source: "/petstore",
  type: "order.placed",
  subject: "store/orders/12",
  time: "2026-11-15T12:00:00.000Z",
  datacontenttype: "application/json",
  clientid: "3",
  data: { id: 12, petId: 7, quantity: 2, complete: false },
};
const body = JSON.stringify(event);

function signature(text: string | Uint8Array, by = secret, id = "msg_1", seconds = now / 1000): string {
  const hmac = createHmac("sha256", Buffer.from(by.slice("whsec_".length), "base64"));
  return `v1,${hmac.update(`${id}.${seconds}.`).update(text).digest("base64")}`;
}

function signed(given = signature(body), seconds = now / 1000): Record<string, string> {
  return { "webhook-id": "msg_1", "webhook-timestamp": String(seconds), "webhook-signature": given };
}

test("a webhook that the store signed gives its event", async () => {
  const given = await verifyWebhook(body, signed(), secret, { now });
  assert.deepEqual(given, event);
  assert.equal(given.type === "order.placed" && given.data.quantity, 2);
});

test("what handles the events of a stream handles those of a webhook, all but its ping", async () => {
  const clientOf = (each: StoreEvent) => ("clientid" in each ? each.clientid : undefined);
  const given = await verifyWebhook(body, signed(), secret, { now });
  assert.equal(given.type === "webhook.ping" ? given.data.webhookId : clientOf(given), "3");
});

test("the vector of the Standard Webhooks specification holds", async () => {
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const given: unknown = await verifyWebhook('{"test": 2432232314}', headers, secret, {
    now: 1614265330_000,
  });
  assert.deepEqual(given, { test: 2432232314 });
});

test("bytes, Headers and names in any case do as well", async () => {
  await verifyWebhook(new TextEncoder().encode(body), new Headers(signed()), secret, { now });
  const upper = Object.fromEntries(
    Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), [value]]),
  );
  await verifyWebhook(body, upper, secret, { now });
});

test("text beyond ASCII is verified byte by byte", async () => {
  const text = JSON.stringify({ ...event, data: { name: "Bärli 🐻" } });
  await verifyWebhook(text, signed(signature(text)), secret, { now });
  await verifyWebhook(Buffer.from(text), signed(signature(Buffer.from(text))), secret, { now });
});

test("while a secret is replaced, either side may have both", async () => {
  const both = `${signature(body, other)} ${signature(body)}`;
  await verifyWebhook(body, signed(both), secret, { now });
  await verifyWebhook(body, signed(both), other, { now });
  await verifyWebhook(body, signed(), [other, secret], { now });
});

const wrong: readonly [string, () => Promise<unknown>, RegExp][] = [
  ["another body", () => verifyWebhook(`${body} `, signed(), secret, { now }), /No signature/],
  [
    "another id",
    () => verifyWebhook(body, { ...signed(), "webhook-id": "msg_2" }, secret, { now }),
    /No signature/,
  ],
  ["another secret", () => verifyWebhook(body, signed(), other, { now }), /No signature/],
  [
    "another version",
    () => verifyWebhook(body, signed(signature(body).replace("v1", "v1a")), secret, { now }),
    /No signature/,
  ],
  [
    "a signature that is no base64",
    () => verifyWebhook(body, signed("v1,%%%"), secret, { now }),
    /No signature/,
  ],
  ["an empty signature", () => verifyWebhook(body, signed("v1,"), secret, { now }), /No signature/],
  [
    "no signature",
    () => verifyWebhook(body, { ...signed(), "webhook-signature": "" }, secret, { now }),
    /no header webhook-signature/,
  ],
  [
    "no id",
    () => verifyWebhook(body, { ...signed(), "webhook-id": "" }, secret, { now }),
    /no header webhook-id/,
  ],
  [
    "a time that is none",
    () => verifyWebhook(body, { ...signed(), "webhook-timestamp": "noon" }, secret, { now }),
    /more than 300 s/,
  ],
  ["an old time", () => verifyWebhook(body, signed(), secret, { now: now + 301_000 }), /more than 300 s/],
  ["a time to come", () => verifyWebhook(body, signed(), secret, { now: now - 301_000 }), /more than 300 s/],
  [
    "a time beyond a tolerance of one's own",
    () => verifyWebhook(body, signed(), secret, { now: now + 11_000, toleranceSeconds: 10 }),
    /more than 10 s/,
  ],
  [
    "a secret that is none",
    () => verifyWebhook(body, signed(), "whsec_%%%", { now }),
    /secret is whsec_ and base64/,
  ],
  ["no secret", () => verifyWebhook(body, signed(), "", { now }), /secret is whsec_ and base64/],
  ["an empty secret", () => verifyWebhook(body, signed(), [other, "whsec_"], { now }), /secret is whsec_/],
  [
    "a body that is signed but no JSON",
    () => verifyWebhook("{", signed(signature("{")), secret, { now }),
    /body is not JSON/,
  ],
];

for (const [what, verify, says] of wrong) {
  test(`a webhook with ${what} is refused`, async () => {
    await assert.rejects(verify, (error) => error instanceof WebhookError && says.test(error.message));
  });
}

test("a webhook at the edge of the tolerance is taken", async () => {
  await verifyWebhook(body, signed(), secret, { now: now + 300_000 });
});
