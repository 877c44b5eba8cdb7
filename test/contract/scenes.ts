// Somebody with quotas of their own, whose every request is booked beside the server.
import { expect } from "bun:test";
import type { Endpoint } from "../../src/contract/route.ts";
import type { Person, Reply, TestStore } from "../harness.ts";
import { aCall, type Call } from "./calls.ts";
import { expectCost, Payer } from "./windows.ts";

export const ANONYMOUS = { perMinute: 400, perDay: 900 };

export const env = {
  TRUST_PROXY: "1",
  ANONYMOUS_PER_MINUTE: String(ANONYMOUS.perMinute),
  ANONYMOUS_PER_DAY: String(ANONYMOUS.perDay),
};

/** A minute that is tighter, a day that is tighter, and two that are equal. */
const quotas = [
  { perMinute: 300, perDay: 10_000 },
  { perMinute: 10_000, perDay: 300 },
  { perMinute: 500, perDay: 500 },
];

export type Sent = NonNullable<Parameters<Call["send"]>[0]>;

/** Somebody with quotas and a network address of their own, and the book of both. */
export interface Scene {
  readonly store: TestStore;
  readonly endpoint: Endpoint;
  readonly person: Person;
  newCall(): Promise<Call>;
  /** Sends a call, and holds status and headers against the book. */
  expect(
    call: Call,
    sent: Sent,
    status: number,
    payer?: "client" | "address",
    requests?: number,
  ): Promise<Reply>;
}

let scenes = 0;

export async function aScene(of: TestStore, endpoint: Endpoint): Promise<Scene> {
  const quota = quotas[++scenes % quotas.length] as (typeof quotas)[number];
  const network = `10.1.${scenes >> 8}.${scenes & 255}`;
  const person = await of.newPerson("admin", { quota });
  const book = {
    client: new Payer(quota.perMinute, quota.perDay),
    address: new Payer(ANONYMOUS.perMinute, ANONYMOUS.perDay),
  };
  return {
    store: of,
    endpoint,
    person,
    newCall: () => aCall(of, endpoint, person),
    async expect(call, sent, status, payer = "client", requests) {
      // Not a whole second, so that windows are crossed at their edges and in between.
      of.clock.now += 1_300;
      const cost = requests ?? (payer === "client" && endpoint.route.uncounted ? 0 : 1);
      const reply = await call.send({ ...sent, headers: { "x-forwarded-for": network, ...sent.headers } });
      expect({ status: reply.status, text: reply.text }).toEqual({ status, text: reply.text });
      expectCost(reply, book[payer], cost, of.clock.now);
      return reply;
    },
  };
}
