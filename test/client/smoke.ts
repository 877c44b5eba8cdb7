// What a program does with the client, in any runtime: the same lines run under Bun, Node, Deno and in a page.
import { ApiError, Petstore, verifyWebhook } from "../../client/src/index.ts";

/** Buys a pet, walks a list, meets an error, follows events, verifies a webhook; tells what came of it. */
export async function smoke(baseUrl: string, apiKey: string): Promise<Record<string, unknown>> {
  const client = new Petstore({ baseUrl, apiKey });
  const names: string[] = [];
  for await (const { name } of client.pets.list({ limit: 2 })) names.push(name);
  const placed = await client.orders.place({ petId: 1, quantity: 2 }).withResponse();
  const refused = await client.orders.place({ petId: 1, quantity: 9 }).catch((error: unknown) => error);
  const beyond = await client.store.pet(2n ** 60n).catch((error: unknown) => error);
  const done = await client.orders.update(placed.data.id as number, { complete: true });
  const event = await verifyWebhook(
    '{"test": 2432232314}',
    {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    { now: 1614265330_000 },
  );
  const aborted = await client.pets
    .list({}, { signal: AbortSignal.abort("enough") })
    .catch((reason) => reason);
  const streamed: string[] = [];
  for await (const { type } of client.events.stream({
    lastEventId: "0",
    type: ["pet.created", "order.placed"],
  }))
    if (streamed.push(type) === 4) break;
  return {
    names,
    streamed,
    status: placed.status,
    hasRequestId: placed.requestId !== undefined,
    windows: placed.rateLimit?.windows.map(({ name }) => name),
    refused: refused instanceof ApiError && refused.code,
    beyond: beyond instanceof ApiError && beyond.message,
    complete: done.complete,
    event,
    aborted,
  };
}

/** What `smoke` tells of a store with five Rexes and a Tom. */
export const expected = {
  names: ["Rex", "Tom", "Kiwi"],
  streamed: ["pet.created", "pet.created", "pet.created", "order.placed"],
  status: 201,
  hasRequestId: true,
  windows: ["minute", "day"],
  refused: "insufficient_stock",
  beyond: "There is no pet 1152921504606846976. Find ids with GET /pets.",
  complete: true,
  event: { test: 2432232314 },
  aborted: "enough",
};
