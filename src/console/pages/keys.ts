import type { CreatedKey, Key, NewKey, Role, Rotation } from "../../../client/src/index.ts";
import { performIfAgreed } from "../acts.ts";
import { type Child, h } from "../dom.ts";
import { choiceField, numberField, textField } from "../fields.ts";
import { bodyOf, formDialog } from "../form.ts";
import { type List, type ListOptions, list } from "../list.ts";
import { showLoss, showSecret } from "../secret.ts";
import { button } from "../visit.ts";
import { badge, time } from "../words.ts";

/** What can be done with the keys of a client, by the client itself or by an admin. */
export interface KeyActs {
  readonly load: ListOptions<Key>["load"];
  readonly create: (body: NewKey) => PromiseLike<CreatedKey>;
  readonly rotate: (keyId: number, body: Rotation) => PromiseLike<CreatedKey>;
  readonly revoke: (keyId: number) => PromiseLike<unknown>;
  /** More that can be done with a key that works. */
  readonly more?: (key: Key) => Child;
  /** The roles that a new key can have. */
  readonly roles: readonly Role[];
}

/** The keys of a client. */
export function keyList(acts: KeyActs): List<Key> {
  const keys: List<Key> = list({
    label: "Keys",
    keyOf: ({ id }) => id,
    load: acts.load,
    empty: () => h("p", {}, "No key yet. Make one by the button above."),
    columns: [
      {
        name: "Key",
        cell: ({ id, name, lastFour }) => [name ?? `Key ${id}`, " ", h("code", {}, `…${lastFour}`)],
      },
      // Bans, events and the audit trail know a key by its number.
      { name: "Number", kind: "number", cell: ({ id }) => id },
      { name: "Role", kind: "short", cell: ({ role }) => role },
      { name: "State", kind: "short", cell: (key) => badge(stateOf(key)) },
      { name: "Last used", cell: ({ lastUsedAt }) => time(lastUsedAt) },
      { name: "Expires", cell: ({ expiresAt }) => time(expiresAt) },
      {
        name: "Actions",
        kind: "acts",
        cell: (key) =>
          isWorking(key) && [
            button("Rotate", `rotate-${key.id}`, () => rotate(acts, key, keys.reload)),
            acts.more?.(key),
            button("Revoke", `revoke-${key.id}`, () => revoke(acts, key, keys.reload), "danger"),
          ],
      },
    ],
  });
  return keys;
}

export function createKey({ create, roles }: KeyActs, made: () => unknown): void {
  formDialog("Make a key", {
    fields: [
      textField("name", { label: "What it is for", hint: "For example: till 2. May be left empty." }),
      choiceField<Role>("role", {
        label: "Role",
        hint: "Customers order, staff also look after pets and stock, admins also look after clients.",
        choices: roles.map((role) => [role, role] as const),
      }),
      numberField("expiresInDays", {
        label: "Works for so many days",
        hint: "Left empty: for ever.",
      }),
    ],
    verb: "Make the key",
    send: async (values) => {
      const key = await create(bodyOf<NewKey>(values));
      showOnce(key);
      // A spent minute holds up the list, and not what is shown this once.
      void made();
    },
  });
}

function rotate({ rotate: send }: KeyActs, key: Key, done: () => unknown): void {
  formDialog(`Rotate ${nameOf(key)}`, {
    before: h("p", {}, "A new key takes its place, with the same role and name."),
    fields: [
      numberField("overlapDays", {
        label: "The old key still works for so many days",
        hint: "0 ends it at once, and signs out whoever is signed in with it.",
        value: 7,
        required: true,
      }),
    ],
    verb: "Rotate",
    send: async (values) => {
      const made = await send(key.id, bodyOf<Rotation>(values));
      showOnce(made);
      void done();
    },
  });
}

function revoke({ revoke: send }: KeyActs, key: Key, done: () => unknown): Promise<void> {
  return performIfAgreed({
    title: `Revoke ${nameOf(key)}?`,
    text: "It stops working within a second, and whoever is signed in with it is signed out. This cannot be undone.",
    verb: "Revoke the key",
    done: `${nameOf(key)} was revoked.`,
    act: () => send(key.id),
    after: done,
  });
}

function showOnce({ key, id }: CreatedKey): void {
  if (key === undefined) showLoss("The new key", `Revoke it, it is key ${id}, and make another.`);
  else showSecret("The new key", key, "Keep it where you keep secrets.");
}

export function nameOf({ name, id }: Key): string {
  return name ?? `key ${id}`;
}

function stateOf(key: Key): string {
  if (key.revokedAt !== undefined) return "revoked";
  if (!isWorking(key)) return "expired";
  return key.bannedUntil === undefined ? "active" : "banned";
}

function isWorking({ revokedAt, expiresAt }: Key): boolean {
  return revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > Date.now());
}
