import type { Int64, Order, OrderUpdate } from "../contract/shapes.ts";
import { requireMatch, requireSameId } from "../core/context.ts";
import { Failure, fail } from "../core/failure.ts";
import { operation } from "../core/operations.ts";
import { insufficientStock, refuseComplete, refuseDraft } from "../core/orders.ts";
import type { Command } from "../core/perform.ts";
import type { Awaitable } from "../core/ports.ts";
import type { Rules } from "../core/rules.ts";
import type { LimitState } from "../core/windows.ts";
import { type Answer, refusal } from "./answer.ts";
import { type Call, commandOf, type Desk, keptAnswer } from "./operate.ts";
import { banned, rateLines, tooManyRequests } from "./rates.ts";
import { linesOf } from "./wire/reply.ts";

/** What a rehearsal needs to know. */
export interface Scene {
  readonly call: Call;
  readonly state: LimitState;
  /** The time by which they were looked at. */
  readonly judgedAt: number;
  readonly house: Desk & { readonly rules: Rules };
  readonly sunset: () => Failure;
}

/**
 * A text in quotes is no preference, whatever it holds; but the rehearsal's own name may be in quotes. One that does not end goes on
 * to the header's end: were it no text, each quote in it would be tried anew.
 */
const otherTexts = /(?<!(?:^|[,;\s])simulate=)"(?:[^"\\]|\\(?:.|$))*(?:"|$)/gi;

/** The value of `Prefer: simulate=...`, if it is there. */
export function rehearsalOf(prefer: string | null): string | undefined {
  if (prefer === null) return undefined;
  const preferences = prefer.replace(otherTexts, '""');
  const asked = /(?:^|[,;\s])simulate(?![\w-])(?:="?([\w-]*)"?)?/i.exec(preferences);
  return asked ? (asked[1] ?? "").toLowerCase() : undefined;
}

/** Answers as the real thing would, so that integrators can prove how they behave; nothing changes and nothing is held against them. */
export async function rehearse(wanted: string, scene: Scene): Promise<Answer> {
  const play = Object.hasOwn(plays, wanted) ? plays[wanted] : undefined;
  if (!play) refuse(wanted, `knows ${Object.keys(plays).join(", ")}`);
  const answer = await play(scene);
  if (!answer) refuse(wanted, `cannot be ${wanted} on ${scene.call.endpoint.route.at}`);
  // Whoever repeats what was done is told so, and nothing is played.
  if (answer.status < 400) return answer;
  const appliedLine = linesOf({ "preference-applied": `simulate=${wanted}` });
  return { ...answer, headerLines: answer.headerLines + appliedLine };
}

type Play = (scene: Scene) => Awaitable<Answer | null>;

const plays: Readonly<Record<string, Play | undefined>> = {
  rate_limit: (scene) => spent(scene, "minute"),
  daily_quota: (scene) => spent(scene, "day"),
  ban: ({ judgedAt, house: { rules } }) =>
    banned(judgedAt + (rules.bans.minutes[0] as number) * 60_000, judgedAt),
  unavailable: () =>
    refusal(new Failure("unavailable", "The data store is not available. Repeat the request later.")),
  sunset: ({ call, sunset }) => (call.endpoint.successor ? refusal(sunset()) : null),
  insufficient_stock: (scene) =>
    ["orders.place", "orders.update"].includes(scene.call.endpoint.id) ? outOfStock(scene) : null,
};

interface Asked {
  readonly orderId?: Int64;
  readonly body: OrderUpdate;
}

/** As if nothing were left of the pet that is asked for; what is judged before that is judged. */
async function outOfStock({ call, house }: Scene): Promise<Answer> {
  const command = await commandOf(house, call);
  const kept = await keptAnswer(house.store, call, command);
  if (kept) return kept;
  const { orderId, body: asked } = command.input as Asked;
  const before = orderId === undefined ? {} : await orderToChange(orderId, asked, command, house);
  const isDraft = asked.petId === null || (asked.petId ?? before.petId) === undefined;
  if (asked.complete && isDraft) refuseDraft();
  const petId = asked.petId ?? before.petId ?? 1;
  const quantity = asked.quantity ?? before.quantity ?? 1;
  // Of the same pet only what is more is needed.
  const units = petId === before.petId ? Math.max(1, quantity - (before.quantity ?? 1)) : quantity;
  return refusal(insufficientStock(petId, quantity, units, 0));
}

async function orderToChange(
  orderId: Int64,
  { id }: OrderUpdate,
  command: Command,
  { store, rules }: Scene["house"],
): Promise<Order> {
  const { caller, now } = command;
  const { body, tag } = await operation("orders.get")({ caller, store, now, rules }, { orderId });
  requireMatch(command, tag as string);
  requireSameId(id, orderId);
  const order = body as Order;
  if (order.complete) refuseComplete(orderId);
  return order;
}

/** As if the window had nothing left: the headers say so too. */
function spent({ state, judgedAt }: Scene, window: "minute" | "day"): Answer {
  const played = { ...state, [window]: { ...state[window], remaining: 0 } };
  const seconds = Math.floor(judgedAt / 1000);
  return {
    ...tooManyRequests(played, window, seconds),
    rateLines: rateLines(played, seconds, played[window]),
  };
}

function refuse(wanted: string, why: string): never {
  const message = `simulate=${wanted}: a rehearsal ${why}`;
  fail("invalid_parameter", `The header Prefer asks for ${message}.`, [{ field: "Prefer", message }]);
}
