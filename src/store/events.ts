import type { Writes } from "../core/ports.ts";
import { type Db, sql } from "./statement.ts";

const insertEvent = sql`
  insert into events (type, subject, client_id, data, at) values (:type, :subject, :clientId, :data, :now)`;

export function eventWrites(db: Db): Pick<Writes, "emit"> {
  return {
    async emit(events, now) {
      for (const event of events)
        await db.run(insertEvent, { ...event, data: JSON.stringify(event.data), now });
    },
  };
}
