import type { Writes } from "../core/ports.ts";
import { type Db, RowsStatement } from "./statement.ts";

interface EventRow {
  readonly type: string;
  readonly subject: string;
  readonly clientId: number | null;
  readonly data: string;
  readonly at: number;
}

const insertEvents = new RowsStatement<EventRow>("events (type, subject, client_id, data, at)", [
  "type",
  "subject",
  "clientId",
  "data",
  "at",
]);

export function eventWrites(db: Db): Pick<Writes, "emit"> {
  return {
    emit: (events, now) =>
      insertEvents.run(
        db,
        events.map((event) => ({ ...event, data: JSON.stringify(event.data), at: now })),
      ),
  };
}
