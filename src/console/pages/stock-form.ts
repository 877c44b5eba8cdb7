import { type InventoryUpdate, PreconditionFailedError } from "../../../client/src/index.ts";
import { petstore } from "../api.ts";
import { openDialog } from "../dialog.ts";
import { bodyOf, formDialog, numberField } from "../form.ts";
import { failed } from "../list.ts";
import { tell } from "../notices.ts";
import { some } from "../words.ts";

/** Sets the stock of a pet, from what it is when the dialog opens: a sale in between is not overwritten unseen. */
export async function setStock(petId: number, name: string, done: () => unknown): Promise<void> {
  const read = () => petstore.inventory.get(petId).withResponse();
  let stock: Awaited<ReturnType<typeof read>>;
  try {
    stock = await read();
  } catch (error) {
    openDialog("That did not work", (close) => failed(error, () => [close(), setStock(petId, name, done)]));
    return;
  }
  formDialog(`Stock of ${name}`, {
    fields: [
      numberField("quantity", {
        label: "Units that can be ordered",
        hint: "Units in open orders are taken already and do not count here.",
        value: stock.data.quantity,
        least: 0,
        required: true,
      }),
    ],
    verb: "Set the stock",
    send: async (values) => {
      try {
        const set = await petstore.inventory.set(petId, bodyOf<InventoryUpdate>(values), {
          ifMatch: stock.etag,
        });
        tell(`${name}: ${some(set.quantity, "unit")} in stock, ${set.status}.`);
      } catch (error) {
        if (!(error instanceof PreconditionFailedError)) throw error;
        stock = await read();
        throw new Error(
          `The stock changed in the meantime: it is now ${some(stock.data.quantity, "unit")}. Set it again if your number still holds.`,
        );
      }
      await done();
    },
  });
}
