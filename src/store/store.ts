import type { Awaitable, Reads, Writes } from "../core/ports.ts";
import { answerReads, answerWrites } from "./answers.ts";
import { categoryReads, categoryWrites } from "./categories.ts";
import { clientReads, clientWrites } from "./clients.ts";
import { deliveryReads, deliveryWrites } from "./deliveries.ts";
import { eventReads, eventWrites } from "./events.ts";
import { keyReads, keyWrites } from "./keys.ts";
import { limitReads, limitWrites } from "./limits.ts";
import { movementReads } from "./movements.ts";
import { orderReads, orderWrites } from "./orders.ts";
import { petReads } from "./pets.ts";
import { sessionReads, sessionWrites } from "./sessions.ts";
import type { Db } from "./statement.ts";
import { type MovementNumbers, stockWrites } from "./stock.ts";
import { tallyReads, tallyWrites } from "./tallies.ts";
import { webhookReads, webhookWrites } from "./webhooks.ts";

/** The store's questions, on any engine. `beforeCounts` is waited for before what was counted is read. */
export function reads(db: Db, beforeCounts: () => Awaitable<void> = () => {}): Reads {
  const tallies = tallyReads(db, beforeCounts);
  return {
    ...petReads(db),
    ...categoryReads(db),
    ...orderReads(db),
    ...movementReads(db),
    ...eventReads(db),
    ...answerReads(db),
    ...clientReads(db),
    ...keyReads(db, tallies),
    ...limitReads(db, tallies),
    ...webhookReads(db),
    ...deliveryReads(db),
    ...sessionReads(db),
  };
}

/** The store's questions and changes, on any engine; a transaction around them, the numbers of movements and the way of an order are the engine's. */
export function writes(db: Db, numbers: MovementNumbers): Omit<Writes, "placeOrder"> {
  return {
    ...reads(db),
    ...stockWrites(db, numbers),
    ...categoryWrites(db),
    ...orderWrites(db),
    ...answerWrites(db),
    ...eventWrites(db),
    ...clientWrites(db),
    ...keyWrites(db),
    ...limitWrites(db),
    ...tallyWrites(db),
    ...webhookWrites(db),
    ...deliveryWrites(db),
    ...sessionWrites(db),
  };
}
