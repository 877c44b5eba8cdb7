import { CryptoHasher } from "bun";

const PREFIX = "whsec_";

/** A secret of these random bytes, in the form of Standard Webhooks. */
export function secretFrom(bytes: Uint8Array): string {
  return PREFIX + Buffer.from(bytes).toString("base64");
}

/** What proves to a receiver whose message it is and that it is new: a signature of each secret, over id, time and body. */
export function signedHeaders(
  messageId: string,
  now: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const signed = `${messageId}.${timestamp}.${body}`;
  return {
    "webhook-id": messageId,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map((secret) => `v1,${hmac(secret, signed)}`).join(" "),
  };
}

function hmac(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  return new CryptoHasher("sha256", key).update(text).digest("base64");
}
