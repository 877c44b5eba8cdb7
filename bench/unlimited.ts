// The server without a limiter: everything else is ours, and the headers are a constant. What limits cost is held against it.
import { readConfig } from "../src/config.ts";
import { goodConduct } from "../src/core/bans.ts";
import type { Admission, Limits } from "../src/core/ports.ts";
import { rulesOf } from "../src/core/rules.ts";
import { callers } from "../src/http/caller.ts";
import { cors } from "../src/http/cors.ts";
import { openLog } from "../src/http/log.ts";
import { requestIds, serve } from "../src/http/serve.ts";
import { connect } from "../src/store/sqlite/connection.ts";
import { startWriter } from "../src/store/sqlite/writer.ts";
import { reads } from "../src/store/store.ts";

const config = readConfig(process.env);
const rules = rulesOf(config);
const window = {
  limit: 1_000_000_000,
  remaining: 999_999_999,
  resetAt: Math.floor(Date.now() / 1000) + 86_400,
};
const admission: Admission = { state: { minute: window, day: window }, refusing: null, bannedUntil: null };
const limits: Limits = {
  admit: () => admission,
  admitAddress: () => admission,
  ask: () => ({
    standing: { state: admission.state, conduct: goodConduct, bannedUntil: null },
    waitSeconds: null,
  }),
};
const writer = await startWriter(
  new URL("../src/writer.ts", import.meta.url),
  { path: config.databaseUrl, rules },
  console.error,
);
const store = { ...reads(connect(config.databaseUrl, "read")), perform: writer.perform };
const server = serve({
  host: config.host,
  port: config.port,
  maxPendingRequests: config.maxPendingRequests,
  maxConnections: Number.POSITIVE_INFINITY,
  trustProxy: 0,
  store,
  rules,
  limits,
  callers: callers({ store, introduce: () => {}, keyWasUsed: () => {} }),
  clock: Date.now,
  log: openLog("info", false, (text) => void Bun.write(Bun.stdout, text), Date.now),
  record: () => {},
  settle: async () => {},
  cors: cors([]),
  deprecation: { deprecatedAt: config.petGetDeprecatedAt, sunsetAt: config.petGetSunsetAt },
  isStopping: () => false,
  newRequestId: requestIds("bench"),
  pages: {},
});
console.error(`http://127.0.0.1:${server.port}`);
