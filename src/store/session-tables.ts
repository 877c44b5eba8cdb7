import type { Migration } from "./migrations.ts";

/** Who is signed in to the console, and who may sign in once by a link. Only hashes: neither can be had from here. */
export const sessionTables: Migration = {
  name: "sessions of the console",
  statements: ({ integer, tableEnd }) => [
    `create table sessions (
      hash text primary key,
      key_id ${integer} not null,
      created_at ${integer} not null,
      used_at ${integer} not null,
      ends_at ${integer} not null
    )${tableEnd}`,
    "create index sessions_key on sessions (key_id, created_at)",
    "create index sessions_end on sessions (ends_at)",
    `create table sign_in_links (
      hash text primary key,
      key_id ${integer} not null,
      ends_at ${integer} not null
    )${tableEnd}`,
  ],
};
