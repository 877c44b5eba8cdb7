// What ours does for every request besides, for a peer that is asked to do the same: as short as it can be.
import { writeSync } from "node:fs";

const LOG_BYTES = 64 * 1024;
const always = {
  "api-version": "1.0.0",
  "cache-control": "private, no-cache",
  "x-content-type-options": "nosniff",
};

/** Nothing, unless DUTIES is set. */
export const duties = process.env.DUTIES ? sameDuties() : undefined;

function sameDuties() {
  const random = crypto.randomUUID().slice(0, 8);
  const usage = new Map();
  let last = 0;
  let lines = "";
  return {
    /** A request begins: its id, and the headers of its answer. */
    begin(given) {
      const requestId = given ?? `${random}-${(++last).toString(36)}`;
      return { started: performance.now(), requestId, headers: { ...always, "x-request-id": requestId } };
    },
    /** It is answered: a count for the client's usage, and a line of the log. */
    end({ started, requestId }, { clientId }, method, path, operation, status) {
      const counted = `${clientId} ${operation} ${status}`;
      usage.set(counted, (usage.get(counted) ?? 0) + 1);
      const took = Math.round((performance.now() - started) * 1000) / 1000;
      lines += `{"time":"${new Date().toISOString()}","level":"info","message":"request","requestId":"${requestId}","method":"${method}","path":${JSON.stringify(path)},"operation":"${operation}","status":${status},"milliseconds":${took},"clientId":${clientId}}\n`;
      if (lines.length < LOG_BYTES) return;
      writeSync(1, lines);
      lines = "";
    },
  };
}
