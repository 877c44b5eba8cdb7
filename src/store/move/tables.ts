/** How a column's values are written: bytes as base64, the others as JSON has them. */
export type ColumnKind = "integer" | "text" | "bytes";

/** A table whose rows an export carries. */
export interface CarriedTable {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** The primary key, by which its rows are put in order. */
  readonly key: readonly string[];
  /** Whether the database numbers its rows: the last number is carried too, because none is ever given again. */
  readonly numbersRows: boolean;
  /** Whether a migration puts rows into it, which those of the export replace. */
  readonly isSeeded?: true;
  /** Rows that are read at once: fewer where one can be large. */
  readonly rowsAtOnce: number;
}

/** Rows that are read or added at once. */
export const ROWS_AT_ONCE = 500;

const numbered = { key: ["id"], numbersRows: true, rowsAtOnce: ROWS_AT_ONCE } as const;
const keyedBy = (...key: string[]) => ({ key, numbersRows: false, rowsAtOnce: ROWS_AT_ONCE });

/** In an order in which what is referred to comes first. */
export const carried: readonly CarriedTable[] = [
  {
    name: "categories",
    ...numbered,
    columns: {
      id: "integer",
      name: "text",
      name_key: "text",
      description: "text",
      version: "integer",
      created_at: "integer",
    },
  },
  {
    name: "pets",
    ...numbered,
    columns: {
      id: "integer",
      name: "text",
      name_key: "text",
      category_id: "integer",
      status: "text",
      quantity: "integer",
      open_orders: "integer",
      version: "integer",
      stock_version: "integer",
      created_at: "integer",
      last_movement_id: "integer",
      previous_movement_id: "integer",
    },
  },
  {
    name: "clients",
    ...numbered,
    columns: {
      id: "integer",
      name: "text",
      plan: "text",
      per_minute: "integer",
      per_day: "integer",
      created_at: "integer",
      suspended_at: "integer",
      removed_at: "integer",
    },
  },
  {
    name: "api_keys",
    ...numbered,
    columns: {
      id: "integer",
      client_id: "integer",
      role: "text",
      name: "text",
      hash: "text",
      last_four: "text",
      created_at: "integer",
      expires_at: "integer",
      revoked_at: "integer",
    },
  },
  {
    name: "orders",
    ...numbered,
    columns: {
      id: "integer",
      client_id: "integer",
      pet_id: "integer",
      quantity: "integer",
      ship_date: "integer",
      complete: "integer",
      version: "integer",
      created_at: "integer",
    },
  },
  {
    name: "movements",
    ...numbered,
    columns: {
      id: "integer",
      pet_id: "integer",
      change: "integer",
      balance: "integer",
      reason: "text",
      order_id: "integer",
      at: "integer",
      previous_id: "integer",
    },
  },
  {
    name: "closed_ledgers",
    ...keyedBy("pet_id"),
    columns: { pet_id: "integer", last_movement_id: "integer" },
  },
  {
    name: "events",
    ...numbered,
    columns: {
      id: "integer",
      type: "text",
      subject: "text",
      client_id: "integer",
      data: "text",
      at: "integer",
    },
  },
  {
    name: "kept_answers",
    ...keyedBy("client_id", "key"),
    // An answer to a batch of pets is some hundred kilobytes.
    rowsAtOnce: 100,
    columns: {
      client_id: "integer",
      key: "text",
      fingerprint: "text",
      body: "text",
      tag: "text",
      kept_at: "integer",
    },
  },
  {
    name: "client_windows",
    ...keyedBy("client_id"),
    columns: {
      client_id: "integer",
      minute_opened_at: "integer",
      minute_count: "integer",
      day: "integer",
      day_count: "integer",
    },
  },
  { name: "key_conduct", ...keyedBy("key_id"), columns: { key_id: "integer", conduct: "text" } },
  {
    name: "bans",
    ...numbered,
    columns: {
      id: "integer",
      key_id: "integer",
      client_id: "integer",
      cause: "text",
      reason: "text",
      level: "integer",
      since: "integer",
      until: "integer",
      lifted_at: "integer",
    },
  },
  {
    name: "usage",
    ...keyedBy("client_id", "day", "operation", "status_class"),
    columns: {
      client_id: "integer",
      day: "integer",
      operation: "text",
      status_class: "integer",
      requests: "integer",
    },
  },
  { name: "key_uses", ...keyedBy("key_id"), columns: { key_id: "integer", at: "integer" } },
  {
    name: "tallies",
    ...numbered,
    // One may hold a row for each of a million clients.
    rowsAtOnce: 1,
    columns: {
      id: "integer",
      is_sorted: "integer",
      windows: "bytes",
      usage: "bytes",
      operations: "text",
      last_used: "bytes",
    },
  },
  {
    name: "audit",
    ...numbered,
    columns: {
      id: "integer",
      at: "integer",
      key_id: "integer",
      operation: "text",
      subject: "text",
      input: "text",
    },
  },
  {
    name: "access",
    ...keyedBy("id"),
    isSeeded: true,
    columns: { id: "integer", revision: "integer" },
  },
  {
    name: "forgotten_events",
    ...keyedBy("id"),
    isSeeded: true,
    columns: { id: "integer", up_to: "integer" },
  },
  {
    name: "webhooks",
    ...numbered,
    // With their secrets: receivers must not notice that the store has moved.
    columns: {
      id: "integer",
      client_id: "integer",
      key_id: "integer",
      role: "text",
      url: "text",
      types: "text",
      description: "text",
      secret: "text",
      previous_secret: "text",
      previous_secret_until: "integer",
      disabled_reason: "text",
      disabled_by_operator: "integer",
      failing_since: "integer",
      starts_after: "integer",
      replay_after: "integer",
      replay_up_to: "integer",
      version: "integer",
      created_at: "integer",
    },
  },
  {
    name: "webhook_deliveries",
    ...numbered,
    columns: {
      id: "integer",
      webhook_id: "integer",
      event_id: "integer",
      message_id: "text",
      type: "text",
      about_client_id: "integer",
      body: "text",
      cause: "text",
      state: "text",
      attempts: "integer",
      next_at: "integer",
      created_at: "integer",
      attempted_at: "integer",
      reason: "text",
      response_status: "integer",
      response_body: "text",
      duration_ms: "integer",
    },
  },
  {
    name: "removed_webhooks",
    ...keyedBy("id"),
    columns: { id: "integer", removed_at: "integer" },
  },
  { name: "fan_out", ...keyedBy("id"), isSeeded: true, columns: { id: "integer", position: "integer" } },
];

/** Tables that an export leaves out, and why. */
export const notCarried: Readonly<Record<string, string>> = {
  migrations: "says how the tables of one database came to be; the file's first line has its number",
  duties:
    "says which running instance sweeps for the next minute; instances on the new store take turns anew",
  written_parts:
    "says what running processes have written behind; those on the new store begin with new ones",
  sessions: "says who is signed in to the console; whoever is signs in again on the new store",
  sign_in_links: "lets the operator sign in once, minutes after the first start of one server",
};
