import type { Account, NewWebhook, Webhook, WebhookUpdate } from "../../../client/src/index.ts";
import { go } from "../address.ts";
import { mayAct, petstore } from "../api.ts";
import { guarded, withRecord } from "../changes.ts";
import { h } from "../dom.ts";
import { type Field, linesField, numberField, textField, timeField } from "../fields.ts";
import { bodyOf, changedFrom, formDialog } from "../form.ts";
import { tell } from "../notices.ts";
import { showLoss, showSecret } from "../secret.ts";
import { severalField } from "../several-field.ts";
import { kinds } from "./event-kinds.ts";
import { typesInBrief } from "./webhook-words.ts";

const A_DAY = 24;

export function makeWebhook(account: Account): void {
  formDialog("Make a webhook", {
    before: h("p", {}, "What happens from now on is sent to an address of yours, as it happens."),
    fields: webhookFields(account),
    verb: "Make the webhook",
    send: async (values) => {
      const made = await petstore.webhooks.create(bodyOf<NewWebhook>(values));
      showOnce(made);
      return () => go(`webhooks/${made.id}`);
    },
  });
}

/** Changes address, types and description; only what was entered anew is sent. */
export function editWebhook(webhookId: number, account: Account, done: () => unknown): Promise<void> {
  const read = () => petstore.webhooks.get(webhookId).withResponse();
  return withRecord(read, (before) => {
    const change = guarded(before, read, (now) => `${now.url}, which is sent ${typesInBrief(now)}`);
    formDialog(`Edit webhook ${webhookId}`, {
      before: before.data.keyId !== account.key.id && takeover(),
      fields: webhookFields(account, before.data),
      verb: "Save",
      send: async (values) => {
        const body = update(before.data, values);
        await change((ifMatch) => petstore.webhooks.update(webhookId, body, { ifMatch }));
        tell("Saved. What still waits goes to the address as it is now.");
        await done();
      },
    });
  });
}

function takeover() {
  return h("p", { class: "hint" }, "Another key made it or changed it last. Saving makes it act for yours.");
}

function webhookFields(account: Account, webhook?: Webhook): Field[] {
  const sight = mayAct(account, "staff")
    ? "Everything that your key may see, of all clients"
    : "Everything: pets, categories, stock, and your own orders, keys and webhooks";
  return [
    textField("url", {
      label: "Address",
      hint: "Where your program listens, for example https://shop.example/events.",
      value: webhook?.url,
      required: true,
      attributes: { type: "url", inputmode: "url", spellcheck: "false" },
    }),
    severalField("types", {
      label: "What it is sent",
      all: sight,
      hint: "Take the tick away to choose.",
      groups: kinds,
      value: webhook?.types,
    }),
    linesField("description", {
      label: "What it is for",
      value: webhook?.description,
      hint: "May be left empty.",
    }),
  ];
}

/** Types count as changed only if they are others. */
function update(before: Webhook, values: Readonly<Record<string, unknown>>): WebhookUpdate {
  const types = (values.types as Webhook["types"] | undefined) ?? null;
  const isSame = [...(types ?? [])].sort().join() === [...(before.types ?? [])].sort().join();
  const keptTypes = isSame && (types === null) === (before.types === undefined);
  const { types: _, ...changed } = changedFrom(before, values, "description");
  return bodyOf<WebhookUpdate>({ ...changed, ...(!keptTypes && { types }) });
}

/** Replaces the secret; for a time deliveries carry signatures of both. */
export function rotateSecret({ id, previousSecretUntil }: Webhook, done: () => unknown): void {
  formDialog(`Replace the secret of webhook ${id}`, {
    before: [
      h("p", {}, "Deliveries are signed with a new secret from now on, and for a time with the old one too."),
      previousSecretUntil !== undefined &&
        h("p", {}, "It was replaced lately: the one before the current secret stops working at once."),
    ],
    fields: [
      numberField("overlapHours", {
        label: "Sign with the old secret too for so many hours",
        hint: "0 ends it at once.",
        value: A_DAY,
        required: true,
      }),
    ],
    verb: "Replace the secret",
    send: async (values) => {
      const made = await petstore.webhooks.rotate(id, bodyOf<{ overlapHours: number }>(values));
      showOnce(made);
      // A spent minute holds up the page, and not what is shown this once.
      void done();
    },
  });
}

/** Sends again what happened since a time. */
export function replaySince({ id }: Webhook, done: () => unknown): void {
  formDialog("Send past events again", {
    before: h(
      "p",
      {},
      "Everything since then that it may see is sent once more, delivered before or not. Your program knows what it had by the id.",
    ),
    fields: [timeField("since", { label: "Since" })],
    verb: "Send them again",
    send: async (values) => {
      const { replaying } = await petstore.webhooks.replay(id, bodyOf<{ since: string }>(values));
      tell(replaying ? "Past events are being sent again." : "Nothing happened since then.");
      await done();
    },
  });
}

function showOnce({ id, secret, previousSecretUntil }: Webhook & { readonly secret?: string }): void {
  const title = `The secret of webhook ${id}`;
  if (secret !== undefined) showSecret(title, secret, "Your program verifies with it what it is sent.");
  // Only one old secret is kept: to replace it again would end the one that the program knows.
  else if (previousSecretUntil !== undefined)
    showLoss(
      title,
      "Do not replace it again: the old one, which your program still knows, would stop working at once. Make another webhook instead, and remove this one when your program knows the secret of that.",
    );
  else showLoss(title, "Replace it: your program knows none that works.");
}
