import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { secretFrom, signedHeaders } from "../../src/core/signature.ts";

test("the vector of the Standard Webhooks specification holds", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const headers = signedHeaders("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330_999, '{"test": 2432232314}', [
    secret,
  ]);
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("each secret signs by itself, over the bytes of the text", () => {
  const keys = [Buffer.alloc(32, 1), Buffer.from(Array.from({ length: 32 }, (_, n) => 255 - n))];
  const body = '{"name":"Bärli 🐻"}';
  const { "webhook-signature": both } = signedHeaders("7", 5000, body, keys.map(secretFrom));
  const expected = keys.map(
    (key) => `v1,${createHmac("sha256", key).update(`7.5.`).update(Buffer.from(body)).digest("base64")}`,
  );
  expect(both).toBe(expected.join(" "));
});

test("a secret is whsec_ and the base64 of its bytes", () => {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  expect(secretFrom(bytes)).toBe(`whsec_${Buffer.from(bytes).toString("base64")}`);
});
