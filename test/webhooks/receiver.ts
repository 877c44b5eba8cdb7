// A receiver of webhooks on loopback that answers as a test wants it to.
import { verifyWebhook } from "../../client/src/index.ts";
import type { Person, Reply, TestStore } from "../harness.ts";

/** Without this nothing is sent to a receiver on loopback. */
export const PRIVATE = { WEBHOOKS_ALLOW_PRIVATE: "on" };
/** How long a test waits for what must come. */
const PATIENCE_MS = 8000;

export interface Received {
  readonly id: string;
  readonly headers: Headers;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  readonly event: any;
}

type Answer = (received: Received, request: Request) => Response | Promise<Response>;

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** Everything that has come, in order. */
  readonly received: readonly Received[];
  /** What the next requests are answered with. */
  answer: Answer;
  /** The n-th request, counted from 1, once it has come. */
  nth(n: number): Promise<Received>;
}

export function aReceiver(answer: Answer = () => new Response(null, { status: 204 })): Receiver {
  const received: Received[] = [];
  let waiting: (() => void)[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text();
      const { headers } = request;
      const one = { id: headers.get("webhook-id") ?? "", headers, body, event: JSON.parse(body) };
      received.push(one);
      for (const resolve of waiting.splice(0)) resolve();
      return receiver.answer(one, request);
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}/events`,
    received,
    answer,
    async nth(n) {
      const deadline = Date.now() + PATIENCE_MS;
      while (received.length < n) {
        if (Date.now() >= deadline) throw new Error(`Only ${received.length} of ${n} webhooks have come.`);
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting = [...waiting, resolve];
        await Promise.race([promise, Bun.sleep(deadline - Date.now())]);
      }
      return received[n - 1] as Received;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return receiver;
}

export interface Hook {
  readonly id: number;
  readonly secret: string;
}

export async function aHook(by: Person, body: Record<string, unknown>): Promise<Hook> {
  const made = await by.post("/webhooks", body);
  if (made.status !== 201) throw new Error(made.text);
  return made.body;
}

/** The event of a delivery, proven by the client package to be the store's. */
export function verified({ body, headers }: Received, secret: string, { clock }: TestStore) {
  return verifyWebhook(body, headers, secret, { now: clock.now });
}

/** The webhook's deliveries, newest first. */
export async function deliveriesOf(by: Person, hook: Hook, query = ""): Promise<Reply["body"]> {
  return (await by.get(`/webhooks/${hook.id}/deliveries${query}`)).body;
}

/** The newest delivery, once it is as wanted. */
export async function newest(
  by: Person,
  hook: Hook,
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  isWanted: (delivery: any) => boolean,
): Promise<Reply["body"]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const [delivery] = await deliveriesOf(by, hook);
    if (delivery && isWanted(delivery)) return delivery;
    if (Date.now() > deadline) throw new Error(`The newest delivery is ${JSON.stringify(delivery)}.`);
    await Bun.sleep(10);
  }
}
