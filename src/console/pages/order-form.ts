import type { NewOrder, Order } from "../../../client/src/index.ts";
import { petstore } from "../api.ts";
import { checkField, type Field, numberField, timeField } from "../fields.ts";
import { bodyOf, formDialog } from "../form.ts";
import { tell } from "../notices.ts";
import { recordField } from "../record-field.ts";

/** Places an order, of this pet or of one that is chosen. At the counter it is handed over at once. */
export function placeOrder(
  isStaff: boolean,
  pet: { readonly id: number; readonly name: string } | undefined,
  placed: (order: Order) => unknown,
): void {
  formDialog(pet ? `${isStaff ? "Sell" : "Order"} ${pet.name}` : "Place an order", {
    fields: [
      ...(pet ? [] : [petField()]),
      numberField("quantity", { label: "Units", value: 1, required: true }),
      timeField("shipDate", { label: "Ship date", hint: "May be left empty." }),
      ...(isStaff ? [handedOver(pet !== undefined)] : []),
    ],
    verb: isStaff && pet ? "Sell" : "Place the order",
    send: async (values) => {
      const order = await petstore.orders.place(
        bodyOf<NewOrder>({ ...(pet && { petId: pet.id }), ...values }),
      );
      tell(`Order ${order.id} was ${order.complete ? "placed and completed" : "placed"}.`);
      await placed(order);
    },
  });
}

function handedOver(value: boolean): Field {
  return checkField("complete", {
    label: "Handed over already",
    hint: "The order is complete at once, as a sale over the counter.",
    value,
  });
}

function petField(): Field {
  return recordField("petId", {
    label: "Pet",
    hint: "Type the beginning of its name; only what is available is offered.",
    required: true,
    search: async (name) => petstore.pets.list({ name: name || undefined, status: ["available"], limit: 20 }),
  });
}
