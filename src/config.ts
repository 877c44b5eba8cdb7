import { collectorAddress, databaseAddress, valkeyAddresses, withoutPassword } from "./addresses.ts";
import { type Environment, givenIn, type Setting, setting, textOf, variablesOf } from "./given.ts";
import {
  dateTime,
  headerPairs,
  hostName,
  integer,
  integers,
  keyPrefix,
  oneOf,
  onOrOff,
  optional,
  origins,
  proxies,
  ratio,
  word,
} from "./values.ts";

/** Every setting: name, default, meaning, and how it is read. */
export const settings = {
  databaseUrl: {
    ...setting(
      "DATABASE_URL",
      "./data/petstore.db",
      "The database: the path of a file, or postgres://user:password@host/database.",
      databaseAddress,
    ),
    mayBeInFile: true,
  },
  databaseConnections: setting(
    "DATABASE_CONNECTIONS",
    "10",
    "Connections to PostgreSQL at once, of each instance.",
    integer(1, 1000),
  ),
  valkeyUrls: {
    ...setting(
      "VALKEY_URL",
      "",
      "The Valkey or Redis in which several instances share their limits, redis://host:6379; of a cluster any node, or some of them, redis://one:6379,two:6379. REDIS_URL is understood too. Empty: limits are kept in memory.",
      valkeyAddresses,
    ),
    alias: "REDIS_URL",
    isSecret: true,
    mayBeInFile: true,
  },
  valkeyPrefix: setting(
    "VALKEY_PREFIX",
    "petstore:",
    "What every key in Valkey begins with; two stores on one Valkey need two.",
    keyPrefix,
  ),
  host: setting("HOST", "127.0.0.1", "The address to listen on, or a name of it.", hostName),
  port: setting("PORT", "8080", "The port to listen on; 0 takes a free one.", integer(0, 65_535)),
  metricsPort: setting(
    "METRICS_PORT",
    "",
    "A port of its own for /metrics, without a key; 0 takes a free one. Empty: only on PORT, with an admin key.",
    optional(integer(0, 65_535)),
  ),
  metricsHost: setting(
    "METRICS_HOST",
    "127.0.0.1",
    "The address that METRICS_PORT is listened on. Whoever reaches it reads the figures.",
    hostName,
  ),
  logLevel: setting(
    "LOG_LEVEL",
    "info",
    "The least level to log: debug, info, warn, error or silent.",
    oneOf("debug", "info", "warn", "error", "silent"),
  ),
  tracesUrl: {
    ...setting(
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      "",
      "The collector that is sent traces, by OTLP over HTTP in JSON: http://host:4318, to which /v1/traces is added. Empty: there are none.",
      optional(collectorAddress),
    ),
    isSecret: true,
  },
  tracesHeaders: {
    ...setting(
      "OTEL_EXPORTER_OTLP_HEADERS",
      "",
      "Headers that the collector wants, such as a key: name=value, separated by commas, values percent-encoded.",
      headerPairs,
    ),
    isSecret: true,
    mayBeInFile: true,
  },
  tracesOff: setting(
    "OTEL_SDK_DISABLED",
    "false",
    "Whether no traces are sent though a collector is named: true or false.",
    oneOf("true", "false"),
  ),
  serviceName: setting("OTEL_SERVICE_NAME", "petstore", "The name of this service in traces.", word),
  tracesRatio: setting(
    "OTEL_TRACES_SAMPLER_ARG",
    "1",
    "Which part of the requests is traced, from 0 to 1, where the caller has not decided that.",
    ratio,
  ),
  newPetStock: setting("NEW_PET_STOCK", "1", "The stock of a new pet, in units.", integer(1, 2_147_483_647)),
  petGetDeprecatedAt: setting(
    "PET_GET_DEPRECATED_AT",
    "2026-11-01T00:00:00Z",
    "When GET /pets/{petId} became deprecated, RFC 3339.",
    dateTime,
  ),
  petGetSunsetAt: setting(
    "PET_GET_SUNSET_AT",
    "2027-11-30T23:59:59Z",
    "When GET /pets/{petId} ends, RFC 3339.",
    dateTime,
  ),
  corsOrigins: setting(
    "CORS_ORIGINS",
    "",
    "Origins that browsers may call from, separated by commas; * for any. Empty: none.",
    origins,
  ),
  trustProxy: setting(
    "TRUST_PROXY",
    "0",
    "Which proxies are believed about the caller's address: how many stand in front, or their networks, separated by commas.",
    proxies,
  ),
  anonymousPerMinute: setting(
    "ANONYMOUS_PER_MINUTE",
    "60",
    "Requests a minute of one network address without a valid key.",
    integer(1, 1_000_000_000),
  ),
  anonymousPerDay: setting(
    "ANONYMOUS_PER_DAY",
    "1000",
    "Requests a day of one network address without a valid key.",
    integer(1, 1_000_000_000),
  ),
  banStrikes: setting("BAN_STRIKES", "20", "The strike that bans a key.", integer(1, 10_000)),
  banStrikeWindowSeconds: setting(
    "BAN_STRIKE_WINDOW_SECONDS",
    "300",
    "How long a strike counts, in seconds.",
    integer(1, 86_400),
  ),
  banGraceSeconds: setting(
    "BAN_GRACE_SECONDS",
    "2",
    "Seconds after a key's first 429 of a window in which more are forgiven.",
    integer(0, 3600),
  ),
  banMinutes: setting(
    "BAN_MINUTES",
    "5,15,60,1440",
    "How many minutes the first, the second, ... ban lasts; the last stays.",
    integers(1, 525_600),
  ),
  console: setting(
    "CONSOLE",
    "on",
    "Whether there is a web page for staff and operators at /console: on or off.",
    onOrOff,
  ),
  usageKeptDays: setting("USAGE_KEPT_DAYS", "400", "How many days of usage are kept.", integer(1, 36_500)),
  eventsKeptDays: setting(
    "EVENTS_KEPT_DAYS",
    "90",
    "How many days events are kept; 0 keeps them for ever.",
    integer(0, 36_500),
  ),
  maxStreams: setting(
    "MAX_STREAMS",
    "1000",
    "Streams of events at once, of each instance; more are answered 503.",
    integer(0, 1_000_000),
  ),
  maxStreamsPerClient: setting(
    "MAX_STREAMS_PER_CLIENT",
    "10",
    "Streams of events at once of one client, of each instance; more are answered 409.",
    integer(1, 1_000_000),
  ),
  webhooks: setting(
    "WEBHOOKS",
    "on",
    "Whether this instance sends webhooks: on or off. While it is off events wait, for another instance or a later start.",
    onOrOff,
  ),
  webhooksAllowPrivate: setting(
    "WEBHOOKS_ALLOW_PRIVATE",
    "off",
    "on lets webhooks lead to private addresses and without https, for development; off does not.",
    onOrOff,
  ),
  deliveriesKeptDays: setting(
    "DELIVERIES_KEPT_DAYS",
    "30",
    "How many days of webhook deliveries are kept.",
    integer(7, 3650),
  ),
  maxPendingRequests: setting(
    "MAX_PENDING_REQUESTS",
    "5000",
    "Requests under way at once; more are answered 503.",
    integer(1, 1_000_000),
  ),
  shutdownDrainSeconds: setting(
    "SHUTDOWN_DRAIN_SECONDS",
    "0",
    "How long a stop goes on answering, not ready and without keeping connections, before it stops accepting.",
    integer(0, 3600),
  ),
  shutdownSeconds: setting(
    "SHUTDOWN_SECONDS",
    "10",
    "How long a stop waits for requests under way.",
    integer(0, 3600),
  ),
} as const;

/** Every variable that is understood. */
export const variables: ReadonlySet<string> = new Set(
  Object.values<Setting<unknown>>(settings).flatMap(variablesOf),
);

/** The settings of this run. */
export type Config = {
  readonly [K in keyof typeof settings]: (typeof settings)[K] extends Setting<infer T> ? T : never;
};

/** One or more settings are wrong; the message names all of them. */
export class WrongSettings extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`Cannot start: ${problems.join("; ")}.`);
    this.name = "WrongSettings";
  }
}

/** Reads every setting from the environment; flags come in the same form and win. */
export function readConfig(env: Environment, readFile = textOf): Config {
  const problems: string[] = [];
  const values = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
    const { env: variable, fallback, read, isSecret } = setting;
    const given = givenIn(env, setting, readFile);
    const value = given instanceof Error ? given : read(given ?? fallback);
    if (value instanceof Error) {
      const isShown = !isSecret && typeof given === "string";
      problems.push(`${variable} ${value.message}${isShown ? `, got "${withoutPassword(given)}"` : ""}`);
    }
    return [name, value];
  });
  const config = Object.fromEntries(values) as Config;
  if (config.petGetSunsetAt < config.petGetDeprecatedAt) {
    problems.push("PET_GET_SUNSET_AT must not be before PET_GET_DEPRECATED_AT");
  }
  if (config.metricsPort !== null && config.metricsPort > 0 && config.metricsPort === config.port) {
    problems.push("METRICS_PORT must not be PORT");
  }
  if (problems.length > 0) throw new WrongSettings(problems);
  return config;
}
