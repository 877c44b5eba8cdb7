// The server without a limiter: everything else is ours, and the headers are a constant. What limits cost is held against it.
import { standardOutput } from "../src/cli/output.ts";
import { readConfig } from "../src/config.ts";
import { goodConduct } from "../src/core/bans.ts";
import type { Admission, Limits } from "../src/core/ports.ts";
import { rulesOf } from "../src/core/rules.ts";
import { callers } from "../src/http/caller.ts";
import { cors } from "../src/http/cors.ts";
import { openLog } from "../src/http/log.ts";
import { requestIds, serve } from "../src/http/serve.ts";
import { openSqliteEngine } from "../src/store/sqlite/engine.ts";

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
const thread = new URL("../src/writer.ts", import.meta.url);
const engine = await openSqliteEngine(thread, { url: config.databaseUrl, rules, onFault: console.error });
const store = { ...engine.reads, perform: engine.perform };
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
  log: openLog("info", false, standardOutput(), Date.now),
  record: () => {},
  settle: async () => {},
  streams: () => Promise.reject(new Error("Nobody follows events here.")),
  cors: cors([]),
  deprecation: { deprecatedAt: config.petGetDeprecatedAt, sunsetAt: config.petGetSunsetAt },
  isStopping: () => false,
  newRequestId: requestIds("bench"),
  pages: {},
});
console.error(`http://127.0.0.1:${server.port}`);
