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
    name: "status follows stock and orders",
    find: sql<Row>`
      select id, status, quantity, open_orders as "openOrders" from pets
      where quantity < 0 or open_orders < 0 or status not in ('available', 'pending', 'sold')
        or (status = 'sold') <> (quantity = 0 and open_orders = 0)
        or (status = 'available' and quantity = 0)
        or (status = 'pending' and quantity = 0 and open_orders = 0) limit :limit`,
    says: ({ id, status, quantity, openOrders }) =>
      `pet ${id} is ${status} with ${quantity} in stock and ${openOrders} open orders`,
  },
  {
    name: "open orders are counted",
    find: sql<Row>`
      select p.id, p.open_orders as "openOrders", coalesce(o.number, 0) as number
      from pets p left join
        (select pet_id, count(*) as number from orders where complete = 0 and pet_id is not null group by pet_id) o on o.pet_id = p.id
      where p.open_orders <> coalesce(o.number, 0) limit :limit`,
    says: ({ id, openOrders, number }) => `pet ${id} counts ${openOrders} open orders, there are ${number}`,
  },
  {
    name: "open orders have their pet",
    find: sql<Row>`
      select id, pet_id as "petId" from orders
      where complete = 0 and pet_id is not null and not exists (select 1 from pets where pets.id = orders.pet_id) limit :limit`,
    says: ({ id, petId }) => `order ${id} is open for pet ${petId}, which does not exist`,
  },
  {
    name: "orders are whole",
    find: sql<Row>`
      select id from orders where (complete = 1 and (pet_id is null or ship_date is null))
        or (pet_id is not null and coalesce(quantity, 0) < 1) limit :limit`,
    says: ({ id }) => `order ${id} lacks its pet, quantity or ship date`,
  },
];

const counts = sql<Row>`
  select (select count(*) from pets) as pets, (select count(*) from categories) as categories,
    (select count(*) from orders) as orders, (select count(*) from movements) as movements,
    (select count(*) from events) as events, (select count(*) from clients) as clients`;

export interface Diagnosis {
  readonly checked: readonly string[];
  readonly counts: Row;
  readonly findings: readonly Finding[];
}

/** Proves the rules of the store over all of it; `own` are the checks that an engine has of itself. */
export async function diagnose(
  db: Db,
  own: Readonly<Record<string, () => readonly string[]>>,
): Promise<Diagnosis> {
  const findings: Finding[] = [];
  for (const [check, find] of Object.entries(own))
    findings.push(...find().map((message) => ({ check, message })));
  for (const { name, find, says } of checks) {
    const rows = await db.all(find, { limit: TOLD_OF_EACH });
    findings.push(...rows.map((row) => ({ check: name, message: says(row) })));
  }
  const checked = [...Object.keys(own), ...checks.map(({ name }) => name)];
  return { checked, counts: (await db.get(counts, {})) ?? {}, findings };
}
