// The shop over PostgreSQL: the same tables, asked by statements that each connection of the pool prepares once.
import pg from "pg";
import {
  fingerprintOf,
  KEPT_MS,
  knownAnswer,
  noPet,
  noStock,
  pageOf,
  petColumns,
  readPage,
  storePetOf,
  unknownPet,
} from "./shop.js";

// Ids and counts stay below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export function openPostgresShop(pool) {
  return {
    keyByHash: keyByHash(pool),
    pet: petById(pool),
    pets: petPages(pool),
    place: placing(pool),
  };
}

function keyByHash(pool) {
  const byHash = {
    name: "key-by-hash",
    text: `select k.id, k.client_id as "clientId", c.per_minute as "perMinute", c.per_day as "perDay"
      from api_keys k join clients c on c.id = k.client_id
      where k.hash = $1 and k.revoked_at is null and c.suspended_at is null`,
  };
  return async (hash) => (await pool.query({ ...byHash, values: [hash] })).rows[0];
}

function petById(pool) {
  const byId = {
    name: "pet-by-id",
    text: `select p.id, p.name, p.category_id as "categoryId", p.status, p.quantity,
        c.name as "categoryName", c.description as "categoryDescription"
      from pets p join categories c on c.id = p.category_id where p.id = $1`,
  };
  return async (id) => {
    const { rows } = await pool.query({ ...byId, values: [id] });
    if (rows.length === 0) throw noPet(id);
    return storePetOf(rows[0]);
  };
}

function petPages(pool) {
  const byId = {
    name: "pets-by-id",
    text: `select ${petColumns} from pets where id > $1 order by id limit $2`,
  };
  const byName = {
    name: "pets-by-name",
    text: `select ${petColumns}, name_key as "nameKey" from pets
      where status = $1 and name_key >= $2 and name_key < $3 and (name_key, id) > ($4, $5)
      order by name_key, id limit $6`,
  };
  return async (query) => {
    const { isNamed, values } = readPage(query);
    const { rows } = await pool.query({ ...(isNamed ? byName : byId), values });
    return pageOf(rows, query.limit, isNamed);
  };
}

/** One transaction for each order; with `synchronous_commit` its commit waits for the disk. */
function placing(pool) {
  const kept = {
    name: "kept-answer",
    text: "select fingerprint, body from kept_answers where client_id = $1 and key = $2 and kept_at > $3",
  };
  // Nothing is written, and nothing given back, if another request kept an answer meanwhile.
  const keep = {
    name: "keep-answer",
    text: `insert into kept_answers (client_id, key, fingerprint, body, kept_at) values ($1, $2, $3, $4, $5)
      on conflict (client_id, key) do update set
        fingerprint = excluded.fingerprint, body = excluded.body, kept_at = excluded.kept_at
      where kept_answers.kept_at <= $6 returning 1`,
  };
  // The conditional update and all that follows from it, in one round trip.
  const place = {
    name: "place-order",
    text: `with taken as (
        update pets set quantity = quantity - $1, open_orders = open_orders + 1, stock_version = stock_version + 1,
          status = case when quantity = $1 then 'pending' else status end,
          version = case when quantity = $1 then version + 1 else version end,
          previous_movement_id = last_movement_id, last_movement_id = nextval('movements_id_seq')
        where id = $2 and quantity >= $1 and status = 'available'
        returning id, quantity, last_movement_id, previous_movement_id),
      placed as (insert into orders (client_id, pet_id, quantity, complete, created_at)
        select $3::bigint, id, $1::bigint, 0, $4::bigint from taken returning id),
      moved as (insert into movements (id, pet_id, change, balance, reason, order_id, at, previous_id)
        select last_movement_id, taken.id, -$1::bigint, taken.quantity, 'ordered', placed.id, $4, previous_movement_id
        from taken, placed),
      told as (insert into events (type, subject, client_id, data, at)
        select 'order.placed', 'store/orders/' || id, $3,
          json_build_object('id', id, 'petId', $2::bigint, 'quantity', $1::bigint, 'complete', false)::text, $4
        from placed)
      select id from placed`,
  };
  const petExists = { name: "pet-exists", text: "select 1 from pets where id = $1" };

  const placed = async (client, clientId, { petId, quantity }, now) => {
    const { rows } = await client.query({ ...place, values: [quantity, petId, clientId, now] });
    if (rows.length === 1) return { id: rows[0].id, petId, quantity, complete: false };
    const known = await client.query({ ...petExists, values: [petId] });
    throw known.rows.length === 0 ? unknownPet(petId) : noStock(petId, quantity);
  };
  const once = async (client, clientId, key, order, now) => {
    const fingerprint = fingerprintOf(order);
    // The begin need not be answered before the first question is sent.
    const [, known] = await Promise.all([
      client.query("begin"),
      client.query({ ...kept, values: [clientId, key, now - KEPT_MS] }),
    ]);
    if (known.rows.length > 0) return knownAnswer(known.rows[0], fingerprint);
    const made = await placed(client, clientId, order, now);
    const values = [clientId, key, fingerprint, JSON.stringify(made), now, now - KEPT_MS];
    const { rows } = await client.query({ ...keep, values });
    return rows.length === 0 ? undefined : made;
  };
  return async (clientId, key, order) => {
    const now = Date.now();
    const client = await pool.connect();
    try {
      // Without a key the one statement is a transaction by itself.
      if (key === undefined) return await placed(client, clientId, order, now);
      for (;;) {
        const made = await once(client, clientId, key, order, now);
        await client.query(made ? "commit" : "rollback");
        if (made) return made;
      }
    } catch (error) {
      if (key !== undefined) await client.query("rollback");
      throw error;
    } finally {
      client.release();
    }
  };
}
