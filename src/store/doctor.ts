import type { Awaitable } from "../core/ports.ts";
import { some } from "../core/some.ts";
import { type Db, sql } from "./statement.ts";

/** Something in the store that its rules do not allow. */
export interface Finding {
  readonly check: string;
  readonly message: string;
}

interface Check {
  readonly name: string;
  readonly find: ReturnType<typeof sql<Row>>;
  readonly says: (row: Row) => string;
}

type Row = Readonly<Record<string, string | number | null>>;

/** Findings of one check that are told; a broken store may have millions. */
const TOLD_OF_EACH = 20;

const checks: readonly Check[] = [
  {
    name: "ledger equals stock",
    find: sql<Row>`
      select p.id, p.quantity, coalesce(m.total, 0) as total
      from pets p left join (select pet_id, sum(change) as total from movements group by pet_id) m on m.pet_id = p.id
      where p.quantity <> coalesce(m.total, 0) limit :limit`,
    says: ({ id, quantity, total }) =>
      `pet ${id} has ${quantity} in stock, but its movements add up to ${total}`,
  },
  {
    name: "removed pets leave nothing",
    find: sql<Row>`
      select pet_id as id, sum(change) as total from movements
      where not exists (select 1 from pets where pets.id = movements.pet_id)
      group by pet_id having sum(change) <> 0 limit :limit`,
    says: ({ id, total }) => `pet ${id} is gone, but its movements add up to ${total}`,
  },
  {
    name: "balances follow the ledger",
    find: sql<Row>`
      select id, pet_id as "petId", balance, total from
        (select id, pet_id, balance, sum(change) over (partition by pet_id order by id) as total from movements) as running
      where balance <> total limit :limit`,
    says: ({ id, petId, balance, total }) =>
      `movement ${id} of pet ${petId} says a balance of ${balance}, its ledger says ${total}`,
  },
  {
    name: "ledgers can be followed",
    find: sql<Row>`
      select id, pet_id as "petId", previous_id as "previousId", before from
        (select id, pet_id, previous_id, lag(id) over (partition by pet_id order by id) as before from movements) as chained
      where previous_id is distinct from before limit :limit`,
    says: ({ id, petId, previousId, before }) =>
      `movement ${id} of pet ${petId} follows ${named(previousId)}, and should follow ${named(before)}`,
  },
  {
    name: "pets name their last movements",
    find: sql<Row>`
      select p.id, p.last_movement_id as "lastId", p.previous_movement_id as "previousId", m.id as last, m.previous_id as before
      from pets p left join (select pet_id, max(id) as id from movements group by pet_id) newest on newest.pet_id = p.id
        left join movements m on m.id = newest.id
      where p.last_movement_id is distinct from m.id or p.previous_movement_id is distinct from m.previous_id limit :limit`,
    says: ({ id, lastId, previousId, last, before }) =>
      `pet ${id} names ${named(lastId)} and before it ${named(previousId)} as its last, and has ${named(last)} and ${named(before)}`,
  },
  {
    name: "removed pets keep their ledgers",
    find: sql<Row>`
      select newest.pet_id as id, newest.id as last, c.last_movement_id as "lastId"
      from (select pet_id, max(id) as id from movements group by pet_id) newest
        left join closed_ledgers c on c.pet_id = newest.pet_id
      where not exists (select 1 from pets where pets.id = newest.pet_id)
        and c.last_movement_id is distinct from newest.id limit :limit`,
    says: ({ id, last, lastId }) =>
      `the ledger of pet ${id}, which is gone, ends with ${named(last)}, but ${named(lastId)} is kept as its end`,
  },
  {
    name: "status follows stock and orders",
    find: sql<Row>`
      select id, status, quantity, open_orders as "openOrders" from pets
      where quantity < 0 or open_orders < 0 or status not in ('available', 'pending', 'sold')
        or (status = 'sold') <> (quantity = 0 and open_orders = 0)
        or (status = 'available' and quantity = 0)
        or (status = 'pending' and quantity = 0 and open_orders = 0) limit :limit`,
    says: ({ id, status, quantity, openOrders }) =>
      `pet ${id} is ${status} with ${quantity} in stock and ${some(Number(openOrders), "open order")}`,
  },
  {
    name: "open orders are counted",
    find: sql<Row>`
      select p.id, p.open_orders as "openOrders", coalesce(o.number, 0) as number
      from pets p left join
        (select pet_id, count(*) as number from orders where complete = 0 and pet_id is not null group by pet_id) o on o.pet_id = p.id
      where p.open_orders <> coalesce(o.number, 0) limit :limit`,
    says: ({ id, openOrders, number }) =>
      `pet ${id} counts ${some(Number(openOrders), "open order")}, and has ${number}`,
  },
  {
    name: "open orders have their pet",
    find: sql<Row>`
      select id, pet_id as "petId" from orders
      where complete = 0 and pet_id is not null and not exists (select 1 from pets where pets.id = orders.pet_id) limit :limit`,
    says: ({ id, petId }) => `order ${id} is open for pet ${petId}, which does not exist`,
  },
  {
    name: "orders hold what they took",
    find: sql<Row>`
      select o.id, o.pet_id as "petId", o.quantity, coalesce(-m.total, 0) as taken
      from orders o left join
        (select order_id, pet_id, sum(change) as total from movements where order_id is not null group by order_id, pet_id) m
        on m.order_id = o.id and m.pet_id = o.pet_id
      where o.pet_id is not null and o.quantity <> coalesce(-m.total, 0) limit :limit`,
    says: ({ id, petId, quantity, taken }) =>
      `order ${id} is for ${quantity} of pet ${petId}, but took ${taken}`,
  },
  {
    name: "what is no longer ordered came back",
    find: sql<Row>`
      select m.order_id as id, m.pet_id as "petId", sum(m.change) as total from movements m
      where m.order_id is not null
        and not exists (select 1 from orders o where o.id = m.order_id and o.pet_id = m.pet_id)
      group by m.order_id, m.pet_id having sum(m.change) <> 0 limit :limit`,
    says: ({ id, petId, total }) =>
      `order ${id} no longer has pet ${petId}, but its movements add up to ${total}`,
  },
  {
    name: "removed clients have no open orders",
    find: sql<Row>`
      select o.id, o.client_id as "clientId" from orders o join clients c on c.id = o.client_id
      where o.complete = 0 and c.removed_at is not null limit :limit`,
    says: ({ id, clientId }) => `order ${id} is open, but its client ${clientId} was removed`,
  },
  {
    name: "orders are whole",
    find: sql<Row>`
      select id from orders where (complete = 1 and (pet_id is null or ship_date is null))
        or (pet_id is not null and coalesce(quantity, 0) < 1) limit :limit`,
    says: ({ id }) => `order ${id} lacks its pet, quantity or ship date`,
  },
];

function named(movementId: Row[string] | undefined): string {
  return movementId === null ? "none" : `movement ${movementId}`;
}

const counts = sql<Row>`
  select (select count(*) from pets) as pets, (select count(*) from categories) as categories,
    (select count(*) from orders) as orders, (select count(*) from movements) as movements,
    (select count(*) from events) as events, (select count(*) from clients) as clients`;

export interface Diagnosis {
  readonly checked: readonly string[];
  readonly counts: Row;
  readonly findings: readonly Finding[];
}

/** The checks that an engine has of itself. */
export type OwnChecks = Readonly<Record<string, () => Awaitable<readonly string[]>>>;

/** Proves the rules of the store over all of it. */
export async function diagnose(db: Db, own: OwnChecks, rules: readonly Check[] = checks): Promise<Diagnosis> {
  const findings: Finding[] = [];
  const tell = async (check: string, find: () => Awaitable<readonly string[]>) => {
    try {
      findings.push(...(await find()).map((message) => ({ check, message })));
    } catch (error) {
      // What cannot even be read is the worst of findings.
      findings.push({ check, message: `cannot be looked at: ${reasonOf(error)}` });
    }
  };
  for (const [check, find] of Object.entries(own)) await tell(check, find);
  for (const { name, find, says } of rules) {
    await tell(name, async () => (await db.all(find, { limit: TOLD_OF_EACH })).map(says));
  }
  const checked = [...Object.keys(own), ...rules.map(({ name }) => name)];
  return { checked, counts: await counted(db), findings };
}

async function counted(db: Db): Promise<Row> {
  try {
    return (await db.get(counts, {})) ?? {};
  } catch {
    return {};
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
}
