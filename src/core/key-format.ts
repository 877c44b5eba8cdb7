// Of the runtime itself: Node's crypto and zlib bring their streams along, in each thread that loads them.
import { CryptoHasher, hash } from "bun";

const PREFIX = "ps_live_";
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
/** How long a key is. */
export const KEY_CHARACTERS = PREFIX.length + SECRET_CHARACTERS + CHECKSUM_CHARACTERS;
/** How many random bytes a key is made of. */
export const KEY_BYTES = 32;

const shape = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

/** An API key of these random bytes: a prefix that scanners find, the secret, a checksum against typos. */
export function keyFrom(bytes: Uint8Array): string {
  const body = PREFIX + base62(BigInt(`0x${Buffer.from(bytes).toString("hex")}`), SECRET_CHARACTERS);
  return body + checksum(body);
}

/** Whether the text can be a key at all; a typo is found without a look-up. */
export function isWellFormed(key: string): boolean {
  if (!shape.test(key)) return false;
  return key.endsWith(checksum(key.slice(0, -CHECKSUM_CHARACTERS)));
}

/** What is stored of a key; the key itself never is. */
export function hashOf(key: string): string {
  return CryptoHasher.hash("sha256", key, "hex");
}

/** Whether a key, or the beginning of one, stands in the text, percent-encoded or not. */
export function holdsKey(text: string): boolean {
  return text.includes(PREFIX) || (text.includes("%") && decoded(text).includes(PREFIX));
}

/** The text with every key in it made unreadable. */
export function redacted(text: string): string {
  if (!holdsKey(text)) return text;
  return decoded(text).replace(/ps_live_[0-9A-Za-z]*/g, `${PREFIX}[redacted]`);
}

/** Percent-encoded ASCII as it reads; the rest as it is. */
function decoded(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function checksum(body: string): string {
  let digits = "";
  for (let rest = hash.crc32(body); digits.length < CHECKSUM_CHARACTERS; rest = Math.floor(rest / 62))
    digits = DIGITS[rest % 62] + digits;
  return digits;
}

function base62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest /= 62n) digits = DIGITS[Number(rest % 62n)] + digits;
  return digits;
}
