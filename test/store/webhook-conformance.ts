// What every engine owes the core about webhooks and their deliveries; a part of the one suite.
import { expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { perform } from "../../src/core/perform.ts";
import type { Writes } from "../../src/core/ports.ts";
import { rulesOf } from "../../src/core/rules.ts";
import type { NewDeliveryRecord, WebhookRecord } from "../../src/core/webhook-ports.ts";
import type { OpenedStore } from "./opened.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const LEASE = 60_000;

/** The cases about what is sent to whom. */
export function webhookCases(named: (name: string) => string, opened: () => OpenedStore): void {
  let made = 0;
  const run = <T>(work: (store: Writes) => T | Promise<T>) => opened().transact(async (s) => work(s));
  const aWebhook = (startsAfter = 0): Promise<WebhookRecord> =>
    run(async (s) => {
      const client = await s.addClient({ name: "Shop", plan: "pro", perMinute: 300, perDay: 10_000 }, NOW);
      const hash = `webhooks ${++made}`.padStart(64, "0");
      const key = {
        clientId: client.id,
        role: "staff",
        name: null,
        hash,
        lastFour: "abcd",
        expiresAt: null,
      } as const;
      const { id: keyId } = await s.addKey(key, NOW);
      const url = "https://shop.example/";
      return s.addWebhook(
        {
          clientId: client.id,
          keyId,
          role: "staff",
          url,
          types: null,
          description: null,
          secret: "s",
          startsAfter,
        },
        NOW,
      );
    });
  const aDelivery = (
    webhookId: number,
    eventId: number | null,
    cause: "event" | "resend" = "event",
  ): NewDeliveryRecord => ({
    webhookId,
    eventId,
    messageId: `m${eventId}`,
    type: "pet.created",
    aboutClientId: null,
    body: "{}",
    cause,
  });
  const outcome = {
    state: "delivered",
    nextAt: null,
    reason: null,
    responseStatus: 204,
    responseBody: "",
    durationMs: 3,
  } as const;
  const taken = (webhookId: number, now: number, limit = 100) =>
    run((s) => s.takeDeliveries(webhookId, now, now + LEASE, limit));

  test(named("a webhook is known with its key and its client as they are now"), async () => {
    const webhook = await aWebhook(7);
    expect(webhook).toMatchObject({
      types: null,
      startsAfter: 7,
      version: 1,
      disabledReason: null,
      keyRole: "staff",
      keyRevokedAt: null,
      clientSuspendedAt: null,
      keysWorkUntil: Number.MAX_SAFE_INTEGER,
    });
    expect(await opened().reads.webhook(webhook.id)).toEqual(webhook);
    await run((s) => s.expireKey(webhook.keyId, NOW + 5));
    expect(await opened().reads.webhook(webhook.id)).toMatchObject({
      keyExpiresAt: NOW + 5,
      keysWorkUntil: NOW + 5,
    });
    await run((s) => s.revokeKey(webhook.keyId, NOW));
    expect(await opened().reads.webhook(webhook.id)).toMatchObject({
      keyRevokedAt: NOW,
      keysWorkUntil: null,
    });
    await run((s) => s.removeClient(webhook.clientId, NOW));
    expect(await opened().reads.webhook(webhook.id)).toBeNull();
  });

  test(named("a webhook that is not as it was read is not changed"), async () => {
    const before = await aWebhook();
    const change = {
      ...before,
      url: "https://other.example/",
      types: ["pet.created"],
      replayAfter: 1,
      replayUpTo: 5,
    };
    const after = await run((s) => s.changeWebhook(before, change));
    expect(after).toEqual({ ...change, version: 2 });
    expect(await run((s) => s.changeWebhook(before, before))).toBeNull();
    expect(await opened().reads.webhook(before.id)).toEqual(after);
    expect(await run((s) => s.disableWebhook(before, "gone"))).toBe(false);
    expect(await run((s) => s.disableWebhook(change, "gone"))).toBe(true);
    expect(await run((s) => s.disableWebhook(change, "failing"))).toBe(false);
    expect(await opened().reads.webhook(before.id)).toMatchObject({
      disabledReason: "gone",
      replayAfter: null,
    });
    expect((await opened().reads.enabledWebhooks()).map(({ id }) => id)).not.toContain(before.id);
    expect(await run((s) => s.removeWebhook(before.id, NOW))).toBe(true);
    expect(await run((s) => s.removeWebhook(before.id, NOW))).toBe(false);
  });

  test(named("the first failure since the last success is known"), async () => {
    const webhook = await aWebhook();
    const { id } = webhook;
    const failing = async () => (await opened().reads.webhook(id))?.failingSince;
    await run((s) => s.noteFailing({ id, url: "https://before.example/" }, NOW - 5));
    expect(await failing()).toBeNull();
    await run((s) => s.noteFailing(webhook, NOW));
    await run((s) => s.noteFailing(webhook, NOW + 5));
    expect(await failing()).toBe(NOW);
    await run((s) => s.noteFailing(webhook, null));
    expect(await failing()).toBeNull();
    const { version } = (await opened().reads.webhook(id)) as WebhookRecord;
    await run((s) => s.noteFailing(webhook, null));
    expect((await opened().reads.webhook(id))?.version).toBe(version);
  });

  test(
    named("an event is a delivery of a webhook once, however often it is asked; again only on purpose"),
    async () => {
      const [one, other] = [await aWebhook(), await aWebhook()];
      const rows = [1, 2, 3].flatMap((eventId) => [aDelivery(one.id, eventId), aDelivery(other.id, eventId)]);
      for (let time = 0; time < 3; time++) await run((s) => s.addDeliveries(rows, NOW));
      await run((s) => s.addDelivery(aDelivery(one.id, null, "resend"), NOW));
      await run((s) => s.addDelivery(aDelivery(one.id, null, "resend"), NOW));
      const query = { descending: true, limit: 100 } as const;
      expect(await opened().reads.deliveries({ ...query, webhookId: one.id })).toHaveLength(5);
      expect(await opened().reads.deliveries({ ...query, webhookId: other.id })).toHaveLength(3);
      expect(await opened().reads.deliveries({ ...query, webhookId: other.id, state: "failed" })).toEqual([]);
    },
  );

  test(named("what was taken is nobody else's until its lease ends, and then a try more"), async () => {
    const { id } = await aWebhook();
    await run((s) =>
      s.addDeliveries(
        [1, 2, 3].map((eventId) => aDelivery(id, eventId)),
        NOW,
      ),
    );
    expect(await taken(id, NOW - 1)).toEqual([]);
    const first = await taken(id, NOW, 2);
    expect(first.map(({ messageId }) => messageId).sort()).toEqual(["m1", "m2"]);
    expect(first[0]).toMatchObject({ attempts: 1, attemptedAt: NOW, nextAt: NOW + LEASE, state: "pending" });
    expect((await taken(id, NOW)).map(({ messageId }) => messageId)).toEqual(["m3"]);
    expect(await taken(id, NOW + LEASE - 1)).toEqual([]);
    expect((await taken(id, NOW + LEASE)).map(({ attempts }) => attempts)).toEqual([2, 2, 2]);
  });

  test(named("an outcome is noted of the last try alone, and once"), async () => {
    const { id } = await aWebhook();
    await run((s) => s.addDeliveries([aDelivery(id, 1)], NOW));
    const [lost] = await taken(id, NOW);
    const [last] = await taken(id, NOW + LEASE);
    const delivery = (last as { id: number }).id;
    expect(
      await run((s) => s.noteDelivery({ ...outcome, id: delivery, attempt: lost?.attempts ?? 0 })),
    ).toBeNull();
    expect(await opened().reads.delivery(delivery)).toEqual(last as never);
    const noted = await run((s) => s.noteDelivery({ ...outcome, id: delivery, attempt: 2 }));
    expect(noted).toMatchObject({ ...outcome, attempts: 2 });
    expect(
      await run((s) => s.noteDelivery({ ...outcome, state: "failed", id: delivery, attempt: 2 })),
    ).toBeNull();
    expect(await taken(id, NOW + 10 * LEASE)).toEqual([]);
    expect(await opened().reads.delivery(delivery)).toEqual(noted);
  });

  test(
    named("webhooks that have something due come in the order of their ids, the disabled not at all"),
    async () => {
      const webhooks = [await aWebhook(), await aWebhook(), await aWebhook(), await aWebhook()];
      const [first, idle, disabled, last] = webhooks.map(({ id }) => id) as [number, number, number, number];
      for (const id of [first, disabled, last]) await run((s) => s.addDeliveries([aDelivery(id, 1)], NOW));
      await run((s) => s.disableWebhook(webhooks[2] as WebhookRecord, "failing"));
      const due = async (now: number, after: number, limit = 100) =>
        (await opened().reads.dueWebhooks(now, after, limit)).map(({ id }) => id);
      expect(await due(NOW, first - 1)).toEqual([first, last]);
      expect(await due(NOW, first - 1, 1)).toEqual([first]);
      expect(await due(NOW, first)).toEqual([last]);
      expect(await due(NOW - 1, first - 1)).toEqual([]);
      expect(idle).toBeGreaterThan(first);
    },
  );

  test(named("how far events have become deliveries is known, and for whom"), async () => {
    await run(async (s) => {
      for (const { id } of await s.enabledWebhooks()) await s.removeWebhook(id, NOW);
      await s.moveFanOut(0);
    });
    expect(await opened().reads.fanOut()).toEqual({ position: 0, since: null, replaying: null });
    const webhook = await aWebhook(40);
    await aWebhook(50);
    await run(async (s) => {
      expect(await s.lockedFanOut()).toBe(0);
      await s.moveFanOut(45);
      await s.changeWebhook(webhook, { ...webhook, replayAfter: 1, replayUpTo: 5 });
    });
    expect(await opened().reads.fanOut()).toEqual({ position: 45, since: 40, replaying: webhook.id });
    // More is made of a replay only when all that was made is sent, so that no client fills the disk by asking.
    const row = {
      webhookId: webhook.id,
      eventId: null,
      messageId: "1",
      type: "pet.created",
      aboutClientId: null,
    };
    await run(async (s) => {
      const waiting = await s.addDelivery({ ...row, body: "{}", cause: "replay" } as const, NOW);
      expect((await s.fanOut()).replaying).toBeNull();
      await s.takeDeliveries(webhook.id, NOW, NOW + 1, 10);
      const outcome = { responseStatus: 200, responseBody: null, durationMs: 1, reason: null, nextAt: null };
      await s.noteDelivery({ ...outcome, id: waiting.id, attempt: 1, state: "delivered" });
      expect((await s.fanOut()).replaying).toBe(webhook.id);
    });
  });

  test(
    named("events become deliveries step by step, each once for everybody, however many there are"),
    async () => {
      await run(async (s) => {
        for (const { id } of await s.enabledWebhooks()) await s.removeWebhook(id, NOW);
        await s.moveFanOut(0);
      });
      const startsAfter = await opened().reads.lastEvent();
      const webhooks: WebhookRecord[] = [];
      for (let n = 0; n < 20; n++) webhooks.push(await aWebhook(startsAfter));
      const events = Array.from({ length: 150 }, (_, n) => ({
        type: "pet.created" as const,
        subject: `pets/${n}`,
        clientId: null,
        data: { id: n },
      }));
      await run((s) => s.emit(events, NOW));
      const command = {
        operation: "delivering.fanOut",
        caller: { clientId: 0, keyId: 0, role: "admin" },
        input: {},
        now: NOW,
      } as const;
      const step = () => run((s) => perform(s, command, rulesOf(readConfig({}))));
      expect((await step()).body).toEqual({ isDone: false, webhooks: 20 });
      expect((await step()).body).toEqual({ isDone: true, webhooks: 20 });
      expect((await step()).body).toEqual({ isDone: true, webhooks: 20 });
      for (const { id: webhookId } of webhooks) {
        const rows = await opened().reads.deliveries({ webhookId, descending: true, limit: 1000 });
        expect(new Set(rows.map(({ messageId }) => messageId)).size).toBe(150);
        expect(rows).toHaveLength(150);
      }
    },
  );

  test(named("old deliveries are forgotten, some at a time"), async () => {
    const { id } = await aWebhook();
    const rows = Array.from({ length: 1500 }, (_, n) => aDelivery(id, n + 1));
    await run((s) => s.addDeliveries(rows.slice(0, 1200), 1000));
    await run((s) => s.addDeliveries(rows.slice(1200), 2000));
    const left = async () =>
      (await opened().reads.deliveries({ webhookId: id, descending: true, limit: 2000 })).length;
    expect(await run((s) => s.forgetDeliveries(2000))).toBe(true);
    expect(await left()).toBe(500);
    expect(await run((s) => s.forgetDeliveries(2000))).toBe(false);
    expect(await left()).toBe(300);
  });

  test(
    named("the deliveries of removed webhooks are dropped in steps, those of others are not"),
    async () => {
      const [large, kept, small, ofClient] = [
        await aWebhook(),
        await aWebhook(),
        await aWebhook(),
        await aWebhook(),
      ];
      const rows = (id: number, count: number) =>
        Array.from({ length: count }, (_, n) => aDelivery(id, n + 1));
      await run(async (s) => {
        await s.addDeliveries([...rows(large.id, 1500), ...rows(kept.id, 5)], NOW);
        await s.addDeliveries([...rows(small.id, 3), ...rows(ofClient.id, 3)], NOW);
        await s.removeWebhook(large.id, NOW);
        await s.removeWebhook(small.id, NOW);
        await s.removeClient(ofClient.clientId, NOW);
      });
      const left = async ({ id: webhookId }: WebhookRecord) =>
        (await opened().reads.deliveries({ webhookId, descending: true, limit: 2000 })).length;
      const step = async (after: number, now: number) => {
        const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
        const command = { operation: "delivering.forgetRemoved", caller, input: { after }, now };
        return (await run((s) => perform(s, command, rulesOf(readConfig({}))))).body;
      };
      const before = large.id - 1;
      expect(await step(before, NOW)).toEqual({ after: before });
      expect(await left(large)).toBe(500);
      expect(await step(before, NOW)).toEqual({ after: null });
      expect(await Promise.all([large, kept, small, ofClient].map(left))).toEqual([0, 5, 0, 0]);
      // What was added by somebody who saw the webhook before it was removed is found too, for a while.
      await run((s) => s.addDeliveries(rows(small.id, 2), NOW));
      await run((s) => s.forgetRemovedWebhook(small.id));
      expect(await run((s) => s.removedWebhooks(small.id - 1, 1))).toEqual([
        { id: small.id, removedAt: NOW },
      ]);
      expect(await step(before, NOW + 10 * 60_000)).toEqual({ after: null });
      expect(await left(small)).toBe(0);
      expect(await run((s) => s.removedWebhooks(before, 100))).toEqual([]);
    },
  );
}
