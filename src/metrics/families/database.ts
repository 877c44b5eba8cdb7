import type { DatabaseFigures } from "../../core/figures.ts";
import { counter, type Family, gauge } from "../family.ts";
import { COMMIT_SECONDS } from "../meters.ts";

/** The database, whichever it is. */
export const databaseFamilies: readonly Family[] = [
  gauge(
    "petstore_database_up",
    "",
    "1 while the database is read and written in time, else 0.",
    ({ figures }) => [figures.isDatabaseUp ? 1 : 0],
  ),
  counter(
    "petstore_database_outages_total",
    "outages",
    "How often PostgreSQL could not be reached. Only on PostgreSQL.",
    ({ meters, figures }) => (figures.database.engine === "postgres" ? [meters.counts.databaseOutages] : []),
  ),
  {
    name: "petstore_database_connections",
    type: "gauge",
    unit: "connections",
    labels: ["state"],
    help: "Connections to PostgreSQL, used or idle, without the one that watches. Only on PostgreSQL.",
    read: ({ figures: { database } }) =>
      onPostgres(database, ({ used, idle }) => [
        { labels: { state: "used" }, value: used },
        { labels: { state: "idle" }, value: idle },
      ]),
  },
  gauge(
    "petstore_database_connections_max",
    "connections",
    "DATABASE_CONNECTIONS. Only on PostgreSQL.",
    ({ figures: { database } }) => onPostgres(database, ({ most }) => [most]),
  ),
  {
    name: "petstore_database_waiting",
    type: "gauge",
    unit: "requests",
    labels: ["use"],
    help: "Reads and writes that wait for a connection. Only on PostgreSQL.",
    read: ({ figures: { database } }) =>
      onPostgres(database, ({ waitingReads, waitingWrites }) => [
        { labels: { use: "read" }, value: waitingReads },
        { labels: { use: "write" }, value: waitingWrites },
      ]),
  },
  gauge("petstore_database_bytes", "bytes", "Size of the database file. Only on SQLite.", ({ figures }) =>
    onSqlite(figures.database, ({ bytes }) => [bytes]),
  ),
  gauge(
    "petstore_database_log_bytes",
    "bytes",
    "Size of the file of the log (WAL). Only on SQLite.",
    ({ figures }) => onSqlite(figures.database, ({ logBytes }) => [logBytes]),
  ),
  gauge(
    "petstore_writer_waiting",
    "writes",
    "Writes that have no outcome yet. Only on SQLite.",
    ({ figures }) => onSqlite(figures.database, ({ waiting }) => [waiting]),
  ),
  {
    name: "petstore_writer_commit_duration_seconds",
    type: "histogram",
    unit: "seconds",
    labels: [],
    help: "Commits of batches of writes, by how long the disk took. Only on SQLite.",
    bounds: COMMIT_SECONDS,
    read: ({ meters, figures }) =>
      onSqlite(figures.database, () => [{ labels: {}, row: meters.commitSeconds }]),
  },
  counter(
    "petstore_writer_writes_total",
    "writes",
    "Writes in those batches, refused ones and the server's own included. Only on SQLite.",
    ({ meters, figures }) => onSqlite(figures.database, () => [meters.counts.writes]),
  ),
];

type On<E extends DatabaseFigures["engine"]> = Extract<DatabaseFigures, { readonly engine: E }>;

function onSqlite<T>(database: DatabaseFigures, read: (figures: On<"sqlite">) => T[]): T[] {
  return database.engine === "sqlite" ? read(database) : [];
}

function onPostgres<T>(database: DatabaseFigures, read: (figures: On<"postgres">) => T[]): T[] {
  return database.engine === "postgres" ? read(database) : [];
}
