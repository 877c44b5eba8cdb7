import type { InventoryItem, InventoryUpdate } from "../../../client/src/index.ts";
import { petstore } from "../api.ts";
import { guarded, withRecord } from "../changes.ts";
import { numberField } from "../fields.ts";
import { bodyOf, formDialog } from "../form.ts";
import { tell } from "../notices.ts";
import { some } from "../words.ts";

/** Sets the stock of a pet, from what it is when the dialog opens: a sale in between is not overwritten unseen. */
export function setStock(petId: number, name: string, done: (now: InventoryItem) => unknown): Promise<void> {
  const read = () => petstore.inventory.get(petId).withResponse();
  return withRecord(read, (stock) => {
    const change = guarded(stock, read, ({ quantity }) => some(quantity, "unit"));
    formDialog(`Stock of ${name}`, {
      fields: [
        numberField("quantity", {
          label: "Units that can be ordered",
          hint: "Units in open orders are taken already and do not count here.",
          value: stock.data.quantity,
          required: true,
        }),
      ],
      verb: "Set the stock",
      send: async (values) => {
        const body = bodyOf<InventoryUpdate>(values);
        const now = await change((ifMatch) => petstore.inventory.set(petId, body, { ifMatch }));
        tell(`${name}: ${some(now.quantity, "unit")} in stock, ${now.status}.`);
        await done(now);
      },
    });
  });
}
