import type { PetstoreApi } from "../contract/api.ts";
import type { Int64 } from "../contract/shapes.ts";
import { after } from "./after.ts";
import { shownCategory } from "./categories.ts";
import type { Operations } from "./context.ts";
import { noPet } from "./pets.ts";
import type { PetWithCategory } from "./ports.ts";
import { storePetTag } from "./tags.ts";

export const store: Operations<PetstoreApi["store"]> = {
  pet(cx, { petId }) {
    return after(cx.store.petWithCategory(petId), shownStorePet, petId);
  },
};

function shownStorePet(found: PetWithCategory | null, petId: Int64) {
  const pet = found ?? noPet(petId);
  const { id, name, categoryId, status, quantity } = pet;
  const category = shownCategory({
    id: categoryId,
    name: pet.categoryName,
    description: pet.categoryDescription,
  });
  return { body: { id, name, categoryId, status, category, quantity }, tag: storePetTag(pet) };
}
