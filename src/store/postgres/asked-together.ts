import type { Int64 } from "../../contract/shapes.ts";
import type { PetWithCategory, Reads } from "../../core/ports.ts";
import { type Arguments, type Db, type Statement, sql } from "../statement.ts";
import { petColumns } from "../stock.ts";
import { reads } from "../store.ts";
import { orderedEventReads } from "./events.ts";

/**
 * The store's questions; what is asked in one turn of the event loop goes together. It is sent when the turn is over, so that
 * whoever asked sees all that was committed before.
 */
export function readsAskedTogether(db: Db): Reads {
  return { ...reads(sharingLists(db)), ...orderedEventReads(db), ...gatheringPets(db) };
}

/** A list that several ask for in one turn is asked for once. Each has an array of its own; the rows in it are shared, and nobody's to change. */
function sharingLists(db: Db): Db {
  const asked = new Map<string, Promise<unknown[]>>();
  const ask = <Row>(statement: Statement<Row>, args: Arguments): Promise<Row[]> => {
    const question = statement.text + JSON.stringify(args, asText);
    const same = asked.get(question);
    if (same) return same as Promise<Row[]>;
    if (asked.size === 0) process.nextTick(() => asked.clear());
    const rows = Promise.resolve(db.all(statement, args));
    asked.set(question, rows);
    return rows;
  };
  return {
    ...db,
    all: async (statement, args) =>
      statement.kind === "own" ? db.all(statement, args) : [...(await ask(statement, args))],
  };
}

/** JSON has no numbers as large as some ids. */
function asText(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

type Found = PetWithCategory | null;
type Asked = Map<Int64, PromiseWithResolvers<Found>>;

/** Pets that are asked for by their ids in one turn are one question; who asks for the same one is given the same record. */
function gatheringPets(db: Db): Pick<Reads, "petWithCategory"> {
  let asked: Asked = new Map();
  const ask = async () => {
    const answers = asked;
    asked = new Map();
    const ids = [...answers.keys()].join(",");
    try {
      const found = new Map<Int64, PetWithCategory>();
      for (const pet of await db.all(petsByIds, { ids })) found.set(pet.id, pet);
      for (const [id, { resolve }] of answers) resolve(found.get(id) ?? null);
    } catch (error) {
      for (const { reject } of answers.values()) reject(error);
    }
  };
  return {
    petWithCategory(id) {
      const same = asked.get(id);
      if (same) return same.promise;
      if (asked.size === 0) process.nextTick(ask);
      const answer = Promise.withResolvers<Found>();
      asked.set(id, answer);
      return answer.promise;
    },
  };
}

/**
 * Each found by its key, whatever the planner believes of the tables: without the two `offset 0` it may read all of one that
 * was small when it looked. The ids are one text, of which it supposes the same whatever is in it: the plan can be kept.
 */
const petsByIds = sql<PetWithCategory>`
  select p.*, c.name as "categoryName", c.description as "categoryDescription", c.version as "categoryVersion"
  from string_to_table(:ids, ',') as asked (id)
    cross join lateral (select ${petColumns} from pets where id = asked.id::bigint offset 0) as p
    cross join lateral (select name, description, version from categories where id = p."categoryId" offset 0) as c`;
