import type { Order, OrdersListQuery, OrderUpdate } from "../../../client/src/index.ts";
import { perform, performIfAgreed } from "../acts.ts";
import { mayAct, petstore } from "../api.ts";
import { guarded, withRecord } from "../changes.ts";
import { type Child, h } from "../dom.ts";
import { numberField, timeField } from "../fields.ts";
import { type Filter, type Filters, filters } from "../filters.ts";
import { bodyOf, changedFrom, formDialog } from "../form.ts";
import { type List, list } from "../list.ts";
import { learnPets, petLink } from "../names.ts";
import { tell } from "../notices.ts";
import type { Column } from "../rows.ts";
import { button, heading, type Page, type Visit } from "../visit.ts";
import { badge, none, some, time } from "../words.ts";
import { placeOrder } from "./order-form.ts";

const ON_A_PAGE = 50;

export const ordersPage: Page = { title: "Orders", show };

function show({ account, query }: Visit) {
  const isStaff = mayAct(account, "staff");
  const narrowing = filters("orders", query, narrowedBy, () => void orders.reload());
  const orders = orderList({
    empty: () => nothing(narrowing.isNarrowed()),
    query: () => wanted(narrowing),
  });
  void orders.reload();
  return [
    heading(
      "Orders",
      button("Place an order", "place", () => placeOrder(isStaff, undefined, () => orders.reload()), "main"),
    ),
    !isStaff && h("p", { class: "soft" }, "You see the orders of your own client."),
    narrowing.element,
    orders.element,
  ];
}

function nothing(isNarrowed: boolean): string {
  return isNarrowed
    ? "No order is like that. Ask for less above, or place one."
    : "There are no orders yet. Place one by the button above.";
}

const narrowedBy: readonly Filter[] = [
  {
    name: "complete",
    label: "Which",
    choices: [
      ["", "all"],
      ["false", "open"],
      ["true", "complete"],
    ],
  },
  { name: "petId", label: "Pet number", type: "number" },
  { name: "from", label: "Ships from", type: "date" },
  { name: "before", label: "Ships before", type: "date" },
];

/** What is narrowed by ship dates is in their order, as the API wants it. */
function wanted({ asked }: Filters): OrdersListQuery {
  const { from, before, ...rest } = asked<OrdersListQuery & { from?: string; before?: string }>();
  const midnight = (day: string | undefined) => day && new Date(`${day}T00:00`).toISOString();
  return {
    ...rest,
    shippedAfter: midnight(from),
    shippedBefore: midnight(before),
    sort: from || before ? "-shipDate" : "-id",
  };
}

interface OrderListOptions {
  readonly query: () => OrdersListQuery;
  readonly empty: () => string;
  readonly limit?: number;
  /** Where the pet is known anyway. */
  readonly isOfOnePet?: boolean;
  readonly onChange?: () => unknown;
}

/** Orders, newest first, with what can be done to them. */
export function orderList(options: OrderListOptions): List<Order> {
  const { query, empty, limit = ON_A_PAGE, isOfOnePet = false, onChange } = options;
  const pet: Column<Order> = { name: "Pet", cell: ({ petId }) => petLink(petId) };
  const orders: List<Order> = list({
    label: "Orders",
    keyOf: ({ id }) => id as number,
    load: (signal) => petstore.orders.list({ sort: "-id", ...query(), limit }, { signal }),
    prepare: (found, signal) => learnPets(isOfOnePet ? [] : found.map(({ petId }) => petId), signal),
    empty: () => h("p", {}, empty()),
    columns: [
      { name: "Order", cell: ({ id }) => `Order ${id}` },
      ...(isOfOnePet ? [] : [pet]),
      { name: "Units", cell: ({ quantity }) => quantity ?? none(), kind: "number" },
      { name: "Status", kind: "short", cell: (order) => badge(statusOf(order)) },
      { name: "Ship date", cell: ({ shipDate }) => time(shipDate) },
      { name: "Actions", kind: "acts", cell: (order) => acts(order, changed, gone) },
    ],
  });
  const changed = (order: Order) => {
    orders.put(order);
    onChange?.();
  };
  const gone = (order: Order) => {
    orders.drop(order);
    onChange?.();
  };
  return orders;
}

function statusOf({ complete, petId }: Order): string {
  if (complete) return "complete";
  return petId === undefined ? "draft" : "open";
}

function acts(order: Order, changed: (order: Order) => void, gone: (order: Order) => void): Child {
  const { id, complete, petId } = order;
  if (complete || id === undefined) return null;
  const version = versionOf(order, changed);
  const finish = () =>
    perform({
      done: `Order ${id} is complete.`,
      act: async () => {
        const ifMatch = await version();
        changed(await petstore.orders.update(id, { complete: true }, { ifMatch }));
      },
    });
  const cancel = () =>
    performIfAgreed({
      title: `Cancel order ${id}?`,
      text: "Its units go back into stock and the order is gone.",
      verb: "Cancel the order",
      done: `Order ${id} was cancelled.`,
      act: async () => petstore.orders.cancel(id, { ifMatch: await version() }),
      after: () => gone(order),
    });
  return [
    petId !== undefined && button("Complete", `complete-${id}`, finish),
    button("Change", `change-${id}`, () => change(id, changed)),
    button("Cancel", `cancel-${id}`, cancel, "danger"),
  ];
}

/** Gives the version of an order that is as it was shown. If it is not, that is said and shown: whoever tries again means it as it is now. */
function versionOf(shown: Order, changed: (order: Order) => void): () => Promise<string | undefined> {
  let seen = shown;
  return async () => {
    const { data: now, etag } = await petstore.orders.get(shown.id as number).withResponse();
    if (now.petId === seen.petId && inWords(now) === inWords(seen)) return etag;
    seen = now;
    changed(now);
    throw new Error(
      `Somebody changed this in the meantime, and nothing was done: it is now ${inWords(now)}. Look at it in the list.`,
    );
  };
}

function inWords(order: Order): string {
  return `${statusOf(order)}, ${some(order.quantity ?? 0, "unit")}`;
}

function change(orderId: number, changed: (order: Order) => void): Promise<void> {
  const read = () => petstore.orders.get(orderId).withResponse();
  return withRecord(read, (before) => {
    const { petId, quantity, shipDate } = before.data;
    const save = guarded(before, read, inWords);
    formDialog(`Change order ${orderId}`, {
      fields: [
        // A draft has no units.
        ...(petId === undefined
          ? []
          : [numberField("quantity", { label: "Units", value: quantity, required: true })]),
        timeField("shipDate", { label: "Ship date", value: shipDate, hint: "May be left empty." }),
      ],
      verb: "Save",
      send: async (values) => {
        const body = bodyOf<OrderUpdate>(changedFrom(before.data, values, "shipDate"));
        changed(await save((ifMatch) => petstore.orders.update(orderId, body, { ifMatch })));
        tell(`Order ${orderId} was changed.`);
      },
    });
  });
}
