import { ledgers } from "./ledgers.ts";
import { lowStock } from "./low-stock.ts";
import { sessionTables } from "./session-tables.ts";
import { operatorsWebhooks, removedWebhooks, webhookTables } from "./webhook-tables.ts";

/** The few words in which the engines' table definitions differ. */
export interface Dialect {
  /** A column that numbers rows upward from 1 and never reuses a number. */
  readonly newId: string;
  readonly integer: string;
  readonly bytes: string;
  /** Text that is compared by code points. */
  readonly foldedText: string;
  /** A column that is always what an expression over its row's others gives. */
  readonly derived: (expression: string) => string;
  /** Leaves room for changed rows beside the old ones, where an engine keeps both for a while. */
  readonly roomForChanges: (table: string) => readonly string[];
  /** What follows the closing parenthesis of a table. */
  readonly tableEnd: string;
  /** Lets whoever may read a table's rows see the last number that one was given. */
  readonly showNumbers: (table: string) => readonly string[];
  /** Lets whoever may add rows to a table take a number for one before. */
  readonly giveNumbers: (table: string) => readonly string[];
}

export interface Migration {
  readonly name: string;
  readonly statements: (dialect: Dialect) => readonly string[];
}

/** Forward only: a migration that was released is never edited, a change is a new one at the end. */
export const migrations: readonly Migration[] = [
  {
    name: "catalogue, stock, orders, clients and keys",
    statements: ({ newId, integer, foldedText, tableEnd }) => [
      `create table categories (
        id ${newId},
        name text not null,
        name_key ${foldedText} not null,
        description text,
        version ${integer} not null default 1,
        created_at ${integer} not null
      )${tableEnd}`,
      "create index categories_name on categories (name_key, id)",

      `create table pets (
        id ${newId},
        name text not null,
        name_key ${foldedText} not null,
        category_id ${integer} not null references categories (id),
        status text not null check (status in ('available', 'pending', 'sold')),
        quantity ${integer} not null check (quantity >= 0),
        open_orders ${integer} not null check (open_orders >= 0),
        version ${integer} not null default 1,
        stock_version ${integer} not null default 1,
        created_at ${integer} not null,
        check ((status = 'sold') = (quantity = 0 and open_orders = 0)),
        check (status <> 'available' or quantity > 0),
        check (status <> 'pending' or quantity > 0 or open_orders > 0)
      )${tableEnd}`,
      // Each starts with an equality, so that a list without a status filter is a merge of three ranges.
      "create index pets_status on pets (status, id)",
      "create index pets_status_name on pets (status, name_key, id)",
      "create index pets_category on pets (category_id, status, id)",
      "create index pets_category_name on pets (category_id, status, name_key, id)",
      "create index pets_stock on pets (status, quantity, id)",

      `create table clients (
        id ${newId},
        name text not null,
        plan text not null check (plan in ('free', 'pro', 'business', 'enterprise')),
        per_minute ${integer} not null check (per_minute > 0),
        per_day ${integer} not null check (per_day > 0),
        created_at ${integer} not null,
        suspended_at ${integer}
      )${tableEnd}`,
      `create table api_keys (
        id ${newId},
        client_id ${integer} not null references clients (id),
        role text not null check (role in ('customer', 'staff', 'admin')),
        name text,
        hash text not null unique,
        last_four text not null,
        created_at ${integer} not null,
        expires_at ${integer},
        revoked_at ${integer}
      )${tableEnd}`,
      "create index api_keys_client on api_keys (client_id, id)",

      // A completed order keeps the id of a pet that may be gone, so pet_id refers to nothing.
      `create table orders (
        id ${newId},
        client_id ${integer} not null references clients (id),
        pet_id ${integer},
        quantity ${integer} check (quantity > 0),
        ship_date ${integer},
        complete ${integer} not null check (complete in (0, 1)),
        version ${integer} not null default 1,
        created_at ${integer} not null,
        check (pet_id is null or quantity is not null),
        check (complete = 0 or (pet_id is not null and ship_date is not null))
      )${tableEnd}`,
      "create index orders_complete on orders (complete, id)",
      "create index orders_client on orders (client_id, complete, id)",
      "create index orders_pet on orders (pet_id, complete, id) where pet_id is not null",
      "create index orders_client_pet on orders (client_id, pet_id, complete, id) where pet_id is not null",
      "create index orders_shipped on orders (complete, ship_date, id) where ship_date is not null",
      "create index orders_client_shipped on orders (client_id, complete, ship_date, id) where ship_date is not null",
      "create index orders_pet_shipped on orders (pet_id, complete, ship_date, id) where ship_date is not null",
      "create index orders_client_pet_shipped on orders (client_id, pet_id, complete, ship_date, id) where ship_date is not null",

      `create table movements (
        id ${newId},
        pet_id ${integer} not null,
        change ${integer} not null check (change <> 0),
        balance ${integer} not null check (balance >= 0),
        reason text not null,
        order_id ${integer},
        at ${integer} not null
      )${tableEnd}`,
      "create index movements_pet on movements (pet_id, id)",

      `create table events (
        id ${newId},
        type text not null,
        subject text not null,
        client_id ${integer},
        data text not null,
        at ${integer} not null
      )${tableEnd}`,

      `create table kept_answers (
        client_id ${integer} not null,
        key text not null,
        fingerprint text not null,
        body text,
        tag text,
        kept_at ${integer} not null,
        primary key (client_id, key)
      )${tableEnd}`,
      "create index kept_answers_age on kept_answers (kept_at)",
    ],
  },
  {
    name: "limits, bans, usage and the audit trail",
    statements: ({ newId, integer, tableEnd }) => [
      `alter table clients add column removed_at ${integer}`,
      `alter table api_keys add column last_used_at ${integer}`,

      // Counted in memory and written behind: at most a second late.
      `create table client_windows (
        client_id ${integer} primary key,
        minute_opened_at ${integer} not null,
        minute_count ${integer} not null,
        day ${integer} not null,
        day_count ${integer} not null
      )${tableEnd}`,
      `create table key_conduct (
        key_id ${integer} primary key,
        conduct text not null
      )${tableEnd}`,

      `create table bans (
        id ${newId},
        key_id ${integer} not null references api_keys (id),
        client_id ${integer} not null references clients (id),
        cause text not null check (cause in ('strikes', 'admin')),
        reason text,
        level ${integer} not null,
        since ${integer} not null,
        until ${integer} not null,
        lifted_at ${integer}
      )${tableEnd}`,
      "create index bans_key on bans (key_id, until) where lifted_at is null",
      "create index bans_until on bans (until, id) where lifted_at is null",

      `create table usage (
        client_id ${integer} not null,
        day ${integer} not null,
        operation text not null,
        status_class ${integer} not null,
        requests ${integer} not null,
        primary key (client_id, day, operation, status_class)
      )${tableEnd}`,
      "create index usage_day on usage (day)",

      `create table audit (
        id ${newId},
        at ${integer} not null,
        key_id ${integer},
        operation text not null,
        subject text not null,
        input text not null
      )${tableEnd}`,

      // Counts changes of clients, keys and bans, so that every process sees them without reading them all.
      `create table access (id ${integer} primary key check (id = 1), revision ${integer} not null)${tableEnd}`,
      "insert into access (id, revision) values (1, 0)",
    ],
  },
  {
    name: "tallies of what was counted",
    statements: ({ newId, integer, bytes, tableEnd }) => [
      // Written as one block twice a second, whoever asked, and brought into rows when many can be written side by side.
      `create table tallies (
        id ${newId},
        is_sorted ${integer} not null check (is_sorted in (0, 1)),
        windows ${bytes} not null,
        usage ${bytes} not null,
        operations text not null,
        last_used ${bytes} not null
      )${tableEnd}`,
      "create index tallies_order on tallies (is_sorted, id)",

      // A narrow table of its own: a use of a key must not rewrite the key's page.
      `create table key_uses (key_id ${integer} primary key, at ${integer} not null)${tableEnd}`,
      "insert into key_uses (key_id, at) select id, last_used_at from api_keys where last_used_at is not null",
      "alter table api_keys drop column last_used_at",
    ],
  },
  {
    name: "duties that one instance does for all",
    statements: ({ integer, tableEnd }) => [
      `create table duties (
        name text primary key,
        taken_until ${integer} not null
      )${tableEnd}`,
    ],
  },
  {
    name: "a key's lifted bans are counted",
    statements: () => ["create index bans_lifted on bans (key_id) where lifted_at is not null"],
  },
  {
    name: "what is tried again is written once",
    statements: ({ integer, tableEnd }) => [
      // The last part that a run of a process has written behind.
      `create table written_parts (
        run text primary key,
        part ${integer} not null,
        at ${integer} not null
      )${tableEnd}`,
      "create unique index bans_earned on bans (key_id, since) where cause = 'strikes'",
    ],
  },
  {
    name: "events can be read",
    statements: ({ integer, tableEnd, showNumbers }) => [
      // The catalogue's types and a client's are different ones, so a client's list is a merge of ranges of the two.
      "create index events_type on events (type, id)",
      "create index events_client on events (client_id, type, id) where client_id is not null",

      // The last event that is no longer kept: whoever would go on before it is told so.
      `create table forgotten_events (id ${integer} primary key check (id = 1), up_to ${integer} not null)${tableEnd}`,
      "insert into forgotten_events (id, up_to) values (1, 0)",
      ...showNumbers("events"),
    ],
  },
  webhookTables,
  sessionTables,
  operatorsWebhooks,
  removedWebhooks,
  lowStock,
  ledgers,
  {
    name: "a client's revoked keys are in nobody's way",
    statements: () => [
      "create index api_keys_unrevoked on api_keys (client_id, id) where revoked_at is null",
      "create index bans_client on bans (client_id, until) where lifted_at is null",
    ],
  },
  {
    name: "who may read all rows may export them",
    statements: ({ showNumbers }) =>
      [
        ...["categories", "pets", "clients", "api_keys", "orders", "bans", "audit", "tallies"],
        ...["webhooks", "webhook_deliveries", "movements"],
      ].flatMap(showNumbers),
  },
];
