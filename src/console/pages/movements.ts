import type { Movement } from "../../../client/src/index.ts";
import { petstore } from "../api.ts";
import { h } from "../dom.ts";
import { type List, list } from "../list.ts";
import { none, time } from "../words.ts";

const SHOWN = 10;

/** The ledger of a pet's stock, newest first. */
export function movementList(petId: number): List<Movement> {
  return list<Movement>({
    label: "Stock movements",
    keyOf: ({ id }) => id,
    load: (signal) => petstore.inventory.movements(petId, { limit: SHOWN }, { signal }),
    empty: () => h("p", {}, "The stock of this pet never changed."),
    columns: [
      { name: "When", cell: ({ at }) => time(at) },
      { name: "Why", kind: "short", cell: ({ reason }) => reason },
      {
        name: "Order",
        kind: "short",
        cell: ({ orderId }) => (orderId === undefined ? none() : `Order ${orderId}`),
      },
      { name: "Change", cell: ({ change }) => (change > 0 ? `+${change}` : `−${-change}`), kind: "number" },
      { name: "In stock after", cell: ({ balance }) => balance, kind: "number" },
    ],
  });
}
