import { expect, test } from "bun:test";
import type { WebhookRecord } from "../../src/core/webhook-ports.ts";
import { sharesOf } from "../../src/worker/shares.ts";

/** Webhooks, each of another client. */
function hooks(count: number, failingSince: number | null = null, from = 1): WebhookRecord[] {
  return Array.from(
    { length: count },
    (_, n) => ({ id: from + n, clientId: from + n, failingSince }) as WebhookRecord,
  );
}

const nobody: ReadonlyMap<number, number> = new Map();
const none = { byWebhook: nobody, byClient: nobody, all: 0, failing: 0 };
const sum = (shares: readonly { limit: number }[]) => shares.reduce((all, { limit }) => all + limit, 0);

test("a webhook has ten tries at once, less those that are under way", () => {
  expect(sharesOf(hooks(1), none)).toEqual([{ webhookId: 1, limit: 10 }]);
  expect(sharesOf(hooks(1), { ...none, byWebhook: new Map([[1, 8]]), all: 8, failing: 0 })).toEqual([
    { webhookId: 1, limit: 2 },
  ]);
  expect(sharesOf(hooks(1), { ...none, byWebhook: new Map([[1, 10]]), all: 10, failing: 0 })).toEqual([]);
});

test("one whose last try failed has one", () => {
  expect(sharesOf(hooks(1, 7), none)).toEqual([{ webhookId: 1, limit: 1 }]);
  expect(sharesOf(hooks(1, 7), { ...none, byWebhook: new Map([[1, 1]]), all: 1, failing: 1 })).toEqual([]);
});

test("all together have a hundred", () => {
  expect(sum(sharesOf(hooks(50), none))).toBe(100);
  expect(sum(sharesOf(hooks(50), { ...none, all: 97 }))).toBe(3);
  expect(sharesOf(hooks(50), { ...none, all: 100 })).toEqual([]);
});

test("however many receivers are dead, they hold half of the tries at the most", () => {
  const all = [...hooks(200, 7), ...hooks(20, null, 1000)];
  const shares = sharesOf(all, none);
  expect(sum(shares.filter(({ webhookId }) => webhookId < 1000))).toBe(50);
  expect(sum(shares.filter(({ webhookId }) => webhookId >= 1000))).toBe(50);
  expect(sharesOf(hooks(3, 7), { ...none, all: 50, failing: 50 })).toEqual([]);
});

test("a client has twenty tries at once, however many webhooks it has", () => {
  const slow = hooks(20).map((webhook) => ({ ...webhook, clientId: 7 }));
  expect(sum(sharesOf([...slow, ...hooks(2, null, 100)], none))).toBe(20 + 2 * 10);
  expect(sharesOf(slow, { ...none, byClient: new Map([[7, 20]]), all: 20 })).toEqual([]);
});
