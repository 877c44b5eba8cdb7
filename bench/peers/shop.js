// What all peers share: the tables of Petstore; here asked by prepared statements over one connection.
import { createHash } from "node:crypto";

/** How long an answer is kept for its idempotency key. */
export const KEPT_MS = 24 * 60 * 60 * 1000;
const CACHE_KIB = 4 * 1024;
const MAPPED_BYTES = 2 ** 31 - 2 ** 16;
const BUSY_TIMEOUT_MS = 5000;

export const petColumns = 'id, name, category_id as "categoryId", status';
const knownStatuses = ["available", "pending", "sold"];

/** The ETag of an order that is new. */
export const firstTag = '"o1"';

/** A request that is refused for a reason of the shop's. */
export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The shop over a database of `node:sqlite` or `bun:sqlite`: both prepare, get, all and run. */
export function openShop(database) {
  database.exec(`pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = 1;
    pragma busy_timeout = ${BUSY_TIMEOUT_MS}; pragma cache_size = -${CACHE_KIB}; pragma mmap_size = ${MAPPED_BYTES}`);
  return {
    keyByHash: keyByHash(database),
    pet: petById(database),
    taggedPet: taggedPetById(database),
    pets: petPages(database),
    place: placing(database),
  };
}

function keyByHash(database) {
  const byHash = database.prepare(`
    select k.id, k.client_id as "clientId", c.per_minute as "perMinute", c.per_day as "perDay"
    from api_keys k join clients c on c.id = k.client_id
    where k.hash = ? and k.revoked_at is null and c.suspended_at is null`);
  return (hash) => byHash.get(hash) ?? undefined;
}

function petById(database) {
  const byId = database.prepare(`
    select p.id, p.name, p.category_id as "categoryId", p.status, p.quantity,
      c.name as "categoryName", c.description as "categoryDescription"
    from pets p join categories c on c.id = p.category_id where p.id = ?`);
  return (id) => {
    const row = byId.get(id);
    if (!row) throw noPet(id);
    return storePetOf(row);
  };
}

/** The same with an ETag of its versions. */
function taggedPetById(database) {
  const byId = database.prepare(`
    select p.id, p.name, p.category_id as "categoryId", p.status, p.quantity, p.version, p.stock_version as "stockVersion",
      c.name as "categoryName", c.description as "categoryDescription", c.version as "categoryVersion"
    from pets p join categories c on c.id = p.category_id where p.id = ?`);
  return (id) => {
    const row = byId.get(id);
    if (!row) throw noPet(id);
    const tag = `"p${row.version}-s${row.stockVersion}-c${row.categoryId}.${row.categoryVersion}"`;
    return { pet: storePetOf(row), tag };
  };
}

export function noPet(id) {
  return new Refused(404, "pet_not_found", `There is no pet ${id}.`);
}

/** A pet with its category and stock, from its row. */
export function storePetOf(row) {
  const { id, name, categoryId, status, quantity, categoryName, categoryDescription } = row;
  const category = { id: categoryId, name: categoryName, description: categoryDescription };
  return { id, name, categoryId, status, category, quantity };
}

/** Keyset pages: by id, or by name within a status. */
function petPages(database) {
  const byId = database.prepare(
    `select ${petColumns} from pets where id > ? order by id limit cast(? as integer)`,
  );
  const byName = database.prepare(`
    select ${petColumns}, name_key as "nameKey" from pets
    where status = ? and name_key >= ? and name_key < ? and (name_key, id) > (?, ?)
    order by name_key, id limit cast(? as integer)`);
  return (query) => {
    const { isNamed, values } = readPage(query);
    return pageOf((isNamed ? byName : byId).all(...values), query.limit, isNamed);
  };
}

/** Which of the two pages is asked for, and the values of its statement; one row more tells whether there is a next. */
export function readPage({ status, name, limit, cursor }) {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const isNamed = status !== undefined && name !== undefined;
  if (isNamed && !knownStatuses.includes(status))
    throw new Refused(400, "invalid_parameter", "status is unknown.");
  const prefix = name?.toLowerCase() ?? "";
  const values = isNamed
    ? [status, prefix, `${prefix}\u{10ffff}`, after?.key ?? "", after?.id ?? 0, limit + 1]
    : [after?.id ?? 0, limit + 1];
  return { isNamed, values };
}

/** The pets of a page, and the cursor of the next one. */
export function pageOf(rows, limit, isNamed) {
  const pets = rows
    .slice(0, limit)
    .map(({ id, name, categoryId, status }) => ({ id, name, categoryId, status }));
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return { pets, next: last && cursorAfter(isNamed ? "name" : "id", last.nameKey ?? last.id, last.id) };
}

function cursorAfter(sort, key, id) {
  return Buffer.from(JSON.stringify([sort, key, id])).toString("base64url");
}

function readCursor(cursor) {
  try {
    const [, key, id] = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Number.isSafeInteger(id)) return { key, id };
  } catch {
    // Answered below, as any other cursor that is none.
  }
  throw new Refused(400, "invalid_parameter", "cursor is not one of this list.");
}

/** The Link header of a page. */
export function pageLinks(path, query, next) {
  const kept = new URLSearchParams(query);
  kept.delete("cursor");
  const first = kept.size > 0 ? `${path}?${kept}` : path;
  if (next === undefined) return `<${first}>; rel="first"`;
  kept.set("cursor", next);
  return `<${path}?${kept}>; rel="next", <${first}>; rel="first"`;
}

/** One transaction for each order; with `synchronous = full` its commit waits for the disk. */
function placing(database) {
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  const rollback = database.prepare("rollback");
  const kept = database.prepare(
    "select fingerprint, body from kept_answers where client_id = ? and key = ? and kept_at > ?",
  );
  const keep = database.prepare(`
    insert into kept_answers (client_id, key, fingerprint, body, kept_at) values (?, ?, ?, ?, ?)
    on conflict (client_id, key) do update set
      fingerprint = excluded.fingerprint, body = excluded.body, kept_at = excluded.kept_at`);
  // A pet names its last movement, which is about to be added, and the one before it.
  const units = `quantity = quantity - ?1, open_orders = open_orders + 1, stock_version = stock_version + 1,
    previous_movement_id = last_movement_id,
    last_movement_id = (select seq + 1 from sqlite_sequence where name = 'movements')`;
  // A status that is not set leaves four of the five indexes of pets alone.
  const take = database.prepare(`
    update pets set ${units} where id = ?2 and quantity > ?1 and status = 'available' returning quantity, previous_movement_id as previous`);
  const takeLast = database.prepare(`
    update pets set ${units}, status = 'pending', version = version + 1
    where id = ?2 and quantity = ?1 and status = 'available' returning quantity, previous_movement_id as previous`);
  const insertOrder = database.prepare(`
    insert into orders (client_id, pet_id, quantity, complete, created_at) values (?, ?, ?, 0, ?) returning id`);
  const insertMovement = database.prepare(`
    insert into movements (pet_id, change, balance, reason, order_id, at, previous_id)
    values (?, ?, ?, 'ordered', ?, ?, ?)`);
  const insertEvent = database.prepare(`
    insert into events (type, subject, client_id, data, at) values ('order.placed', ?, ?, ?, ?)`);
  const petExists = database.prepare("select 1 from pets where id = ?");

  const placed = (clientId, { petId, quantity }, now) => {
    const pet = take.get(quantity, petId) ?? takeLast.get(quantity, petId);
    if (!pet) throw petExists.get(petId) ? noStock(petId, quantity) : unknownPet(petId);
    const { id } = insertOrder.get(clientId, petId, quantity, now);
    insertMovement.run(petId, -quantity, pet.quantity, id, now, pet.previous);
    const order = { id, petId, quantity, complete: false };
    insertEvent.run(`store/orders/${id}`, clientId, JSON.stringify(order), now);
    return order;
  };
  const once = (clientId, key, order, now) => {
    const fingerprint = fingerprintOf(order);
    const known = kept.get(clientId, key, now - KEPT_MS);
    if (!known) {
      const made = placed(clientId, order, now);
      keep.run(clientId, key, fingerprint, JSON.stringify(made), now);
      return made;
    }
    return knownAnswer(known, fingerprint);
  };
  return (clientId, key, order) => {
    const now = Date.now();
    begin.run();
    try {
      const made = key === undefined ? placed(clientId, order, now) : once(clientId, key, order, now);
      commit.run();
      return made;
    } catch (error) {
      rollback.run();
      throw error;
    }
  };
}

export function unknownPet(id) {
  return new Refused(422, "unknown_pet", `There is no pet ${id}.`);
}

export function noStock(petId, quantity) {
  return new Refused(409, "insufficient_stock", `There are not ${quantity} of pet ${petId}.`);
}

/** What a second order with the same idempotency key is compared by. */
export function fingerprintOf(order) {
  return createHash("sha256").update(JSON.stringify(order)).digest("base64url");
}

/** The answer that was kept, if it was for the same order. */
export function knownAnswer({ fingerprint, body }, wanted) {
  if (fingerprint !== wanted)
    throw new Refused(422, "idempotency_key_reused", "The key was used for another order.");
  return JSON.parse(body);
}
