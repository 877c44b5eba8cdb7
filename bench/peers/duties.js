// What ours does for every request besides, for a peer that is asked to do the same: as short as it can be.
import { writeSync } from "node:fs";

const LOG_BYTES = 64 * 1024;
const always = {
  "api-version": "1.0.0",
  "cache-control": "private, no-cache",
  "x-content-type-options": "nosniff",
};
const final = { "x-should-retry": "false" };
const unknownCaller = { ...final, "www-authenticate": 'Bearer realm="petstore"' };

/** Nothing, unless DUTIES is set. */
export const duties = process.env.DUTIES ? sameDuties() : undefined;

/** What a request without a valid key may ask for, by its address. */
export const anonymous = {
  perMinute: Number(process.env.ANONYMOUS_PER_MINUTE),
  perDay: Number(process.env.ANONYMOUS_PER_DAY),
};

function sameDuties() {
  const random = crypto.randomUUID().slice(0, 8);
  const usage = new Map();
  let last = 0;
  let lines = "";
  let lastTime = 0;
  let time = "";
  return {
    /** A request begins: its id, and the headers of its answer. */
    begin(given) {
      const requestId = given ?? `${random}-${(++last).toString(36)}`;
      return { started: performance.now(), requestId, headers: { ...always, "x-request-id": requestId } };
    },
    /** How both windows stand, in the form of the IETF's draft. */
    rates(minute, day) {
      return {
        "ratelimit-policy": `"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`,
        ratelimit: `"minute";r=${minute.remaining};t=${minute.seconds}, "day";r=${day.remaining};t=${day.seconds}`,
      };
    },
    /** What a refusal also says. */
    refusal(status) {
      if (status === 429) return undefined;
      return status === 401 ? unknownCaller : final;
    },
    /** It is answered: a count for the client's usage, and a line of the log. */
    end({ started, requestId }, client, method, path, operation, status, code) {
      if (client) {
        const counted = `${client.clientId} ${operation} ${status}`;
        usage.set(counted, (usage.get(counted) ?? 0) + 1);
      }
      const now = Date.now();
      if (now !== lastTime) {
        lastTime = now;
        time = new Date(now).toISOString();
      }
      const took = Math.round((performance.now() - started) * 1000) / 1000;
      let line = `{"time":"${time}","level":"info","message":"request","requestId":"${requestId}","method":"${method}","path":${JSON.stringify(path)}`;
      if (operation) line += `,"operation":"${operation}"`;
      line += `,"status":${status},"milliseconds":${took}`;
      if (client) line += `,"clientId":${client.clientId},"keyId":${client.id}`;
      if (code) line += `,"code":"${code}"`;
      lines += `${line}}\n`;
      if (lines.length < LOG_BYTES) return;
      writeSync(1, lines);
      lines = "";
    },
  };
}
