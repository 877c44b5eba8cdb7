import { CryptoHasher } from "bun";
import type { CategoryRecord, ClientRecord, OrderRecord, PetRecord, PetWithCategory } from "./ports.ts";
import type { WebhookRecord } from "./webhook-ports.ts";
import { webhookSeesAll } from "./webhook-rules.ts";

// A tag is made of version columns: it changes when the representation does, and costs nothing to compute.

export function petTag(pet: PetRecord): string {
  return `p${pet.version}`;
}

export function stockTag(pet: PetRecord): string {
  return `s${pet.stockVersion}`;
}

export function storePetTag(pet: PetWithCategory): string {
  return `p${pet.version}-s${pet.stockVersion}-c${pet.categoryId}.${pet.categoryVersion}`;
}

/** Of a tag of a pet, in either of its representations, the part that tells of the pet's own fields. */
export function petPart(tag: string): string {
  return tag.replace(/^(p\d+)-s\d+-c\d+\.\d+$/, "$1");
}

export function categoryTag(category: CategoryRecord): string {
  return `c${category.version}`;
}

export function orderTag(order: OrderRecord): string {
  return `o${order.version}`;
}

/** A client has no version: rare as its changes are, its tag is made of what it shows. */
export function clientTag({ name, plan, perMinute, perDay, suspendedAt }: ClientRecord): string {
  const shown = JSON.stringify([name, plan, perMinute, perDay, suspendedAt !== null]);
  return CryptoHasher.hash("sha256", shown, "base64url").slice(0, 16);
}

/** What a webhook sees hangs on its key, and that the previous secret is told of on the time. */
export function webhookTag(webhook: WebhookRecord, now: number): string {
  const { version, previousSecretUntil } = webhook;
  const isOverlapping = previousSecretUntil !== null && previousSecretUntil > now;
  return `w${version}-${webhookSeesAll(webhook, now) ? "all" : "own"}${isOverlapping ? "-2" : ""}`;
}
