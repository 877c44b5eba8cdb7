import type { Migration } from "./migrations.ts";

export const webhookTables: Migration = {
  name: "webhooks and their deliveries",
  statements: ({ newId, integer, tableEnd }) => [
    `create table webhooks (
      id ${newId},
      client_id ${integer} not null references clients (id),
      key_id ${integer} not null references api_keys (id),
      role text not null check (role in ('customer', 'staff', 'admin')),
      url text not null,
      types text,
      description text,
      secret text not null,
      previous_secret text,
      previous_secret_until ${integer},
      disabled_reason text check (disabled_reason in ('asked', 'gone', 'failing')),
      failing_since ${integer},
      starts_after ${integer} not null,
      replay_after ${integer},
      replay_up_to ${integer},
      version ${integer} not null default 1,
      created_at ${integer} not null
    )${tableEnd}`,
    "create index webhooks_client on webhooks (client_id, id)",
    "create index webhooks_key on webhooks (key_id)",
    // That there is nothing to do is found out twice a second: by one look at each of these.
    "create index webhooks_enabled on webhooks (starts_after) where disabled_reason is null",
    "create index webhooks_replaying on webhooks (id) where replay_after is not null",

    // No reference to the webhook: when that is removed, its deliveries are swept, a few at a time.
    `create table webhook_deliveries (
      id ${newId},
      webhook_id ${integer} not null,
      event_id ${integer},
      message_id text not null,
      type text not null,
      about_client_id ${integer},
      body text not null,
      cause text not null check (cause in ('event', 'resend', 'replay', 'ping')),
      state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
      attempts ${integer} not null default 0,
      next_at ${integer},
      created_at ${integer} not null,
      attempted_at ${integer},
      reason text,
      response_status ${integer},
      response_body text,
      duration_ms ${integer},
      check ((state = 'pending') = (next_at is not null))
    )${tableEnd}`,
    "create unique index webhook_deliveries_once on webhook_deliveries (webhook_id, event_id) where event_id is not null",
    "create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_at, id) where state = 'pending'",
    "create index webhook_deliveries_list on webhook_deliveries (webhook_id, id)",
    "create index webhook_deliveries_state on webhook_deliveries (webhook_id, state, id)",
    "create index webhook_deliveries_age on webhook_deliveries (created_at)",

    // How far events have been turned into deliveries.
    `create table fan_out (id ${integer} primary key check (id = 1), position ${integer} not null)${tableEnd}`,
    "insert into fan_out (id, position) values (1, 0)",
  ],
};

export const operatorsWebhooks: Migration = {
  name: "operators disable webhooks",
  statements: ({ integer }) => [
    `alter table webhooks add column disabled_by_operator ${integer} not null default 0
      check (disabled_by_operator in (0, 1) and (disabled_by_operator = 0 or disabled_reason is not null))`,
    // Of operators' lists of all clients' webhooks.
    "create index webhooks_list_enabled on webhooks (id) where disabled_reason is null",
    "create index webhooks_list_disabled on webhooks (id) where disabled_reason is not null",
  ],
};

export const removedWebhooks: Migration = {
  name: "the deliveries of removed webhooks are swept",
  statements: ({ integer, tableEnd }) => [
    // Removed webhooks that may still have deliveries.
    `create table removed_webhooks (id ${integer} primary key, removed_at ${integer} not null)${tableEnd}`,
  ],
};
