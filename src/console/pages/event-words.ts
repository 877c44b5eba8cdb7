import type { EventData, EventType, Order, StoreEvent } from "../../../client/src/index.ts";
import { hrefOf } from "../address.ts";
import { type Child, h } from "../dom.ts";
import { knowsPet, petName } from "../names.ts";
import { count, some, time } from "../words.ts";

type Sentences = { readonly [T in EventType]: (data: EventData[T]) => Child };

/** What each type of event says to somebody in the shop. */
const sentences: Sentences = {
  "pet.created": ({ id, name }) => [pet(id, name), " was added"],
  "pet.updated": ({ id, name }) => [pet(id, name), " was changed"],
  "pet.status_changed": ({ id, name, previousStatus, status }) => [
    pet(id, name),
    ` was ${previousStatus} and is ${status}`,
  ],
  "pet.deleted": ({ name }) => `${name} was removed`,
  "category.created": ({ name }) => `The category ${name} was added`,
  "category.updated": ({ name }) => `The category ${name} was changed`,
  "category.deleted": ({ name }) => `The category ${name} was removed`,
  "inventory.changed": ({ petId, change, quantity }) => [
    pet(petId),
    `: ${change > 0 ? "+" : "−"}${count(Math.abs(change))}, ${count(quantity)} in stock`,
  ],
  "inventory.depleted": ({ petId }) => [pet(petId), " is out of stock"],
  "order.placed": (order) => [ordered(order), " was placed"],
  "order.updated": (order) => [ordered(order), " was changed"],
  "order.completed": (order) => [ordered(order), " is complete"],
  "order.cancelled": (order) => [ordered(order), " was cancelled"],
  "quota.warning": ({ clientId, used, limit }) =>
    `Client ${clientId} has used ${count(used)} of its ${some(limit, "request")} of today`,
  "key.strike_warning": ({ keyId, strikes, threshold }) =>
    `Key ${keyId} has ${strikes} of ${some(threshold, "strike")}`,
  "key.banned": ({ keyId, until }) => [`Key ${keyId} is banned until `, time(until)],
  "key.unbanned": ({ keyId }) => `Key ${keyId} works again`,
  "webhook.disabled": ({ webhookId, reason }) =>
    `Webhook ${webhookId} is sent no more: ${whyDisabled[reason]}`,
};

const whyDisabled = {
  gone: "its receiver is gone",
  failing: "it failed for 5 days",
  operator: "the operator disabled it",
} as const;

/** The pet that an event is about, and its name if the event tells it. */
export function petIn({ type, data }: StoreEvent): { readonly id?: number; readonly name?: string } {
  if (type.startsWith("pet.")) return data as { id: number; name: string };
  return "petId" in data && data.petId !== undefined ? { id: data.petId } : {};
}

/** An event in words; a type that this page does not know yet by its name. */
export function wordsOf({ type, data, subject }: StoreEvent): Child {
  const sentence = sentences[type] as ((data: unknown) => Child) | undefined;
  return sentence ? sentence(data) : `${type} of ${subject}`;
}

/** Where only the number is known, the line says so: the name may come later. */
function pet(id: number, name?: string): Child {
  const isUnnamed = name === undefined && !knowsPet(id);
  return h("a", { href: hrefOf(`pets/${id}`), "data-unnamed": isUnnamed && String(id) }, name ?? petName(id));
}

function ordered({ id, petId, quantity }: Order): Child {
  return petId === undefined ? `Order ${id}, a draft,` : [`Order ${id} of ${quantity ?? 1} × `, pet(petId)];
}
