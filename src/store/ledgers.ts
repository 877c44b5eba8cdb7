import type { Migration } from "./migrations.ts";

/**
 * A pet's movements are found from its last one on, each naming the one before it. An index of movements by their pet would change a page
 * of its own for every order, and does nothing else.
 */
export const ledgers: Migration = {
  name: "a pet's movements are a chain",
  statements: ({ integer, tableEnd, giveNumbers }) => [
    `alter table movements add column previous_id ${integer}`,
    `update movements set previous_id = (select max(before.id) from movements before
      where before.pet_id = movements.pet_id and before.id < movements.id)`,

    // The one before the last goes along, so that the statement which moves stock can tell both.
    `alter table pets add column last_movement_id ${integer}`,
    `alter table pets add column previous_movement_id ${integer}`,
    "update pets set last_movement_id = (select max(id) from movements where pet_id = pets.id)",
    "update pets set previous_movement_id = (select previous_id from movements where id = pets.last_movement_id)",

    // A pet that is removed leaves its movements.
    `create table closed_ledgers (
      pet_id ${integer} primary key,
      last_movement_id ${integer} not null
    )${tableEnd}`,
    `insert into closed_ledgers (pet_id, last_movement_id) select pet_id, max(id) from movements
      where not exists (select 1 from pets where pets.id = movements.pet_id) group by pet_id`,
    "drop index movements_pet",
    ...giveNumbers("movements"),
  ],
};
