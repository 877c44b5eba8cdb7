import { counter, type Family, gauge } from "../family.ts";

/** Who may ask how much, and where that is counted. */
export const limitFamilies: readonly Family[] = [
  gauge(
    "petstore_valkey_up",
    "",
    "1 while limits are shared in Valkey, 0 while it or a node of it is away. Only with VALKEY_URL.",
    ({ figures: { valkey } }) => (valkey ? [valkey.isAway ? 0 : 1] : []),
  ),
  {
    name: "petstore_valkey_links",
    type: "gauge",
    unit: "connections",
    labels: ["breaker"],
    help: "Links to Valkey or its nodes, by breaker: no request waits for one that is open. Only with VALKEY_URL.",
    read: ({ figures: { valkey } }) =>
      valkey
        ? [
            { labels: { breaker: "closed" }, value: valkey.links - valkey.openBreakers },
            { labels: { breaker: "open" }, value: valkey.openBreakers },
          ]
        : [],
  },
  counter(
    "petstore_valkey_outages_total",
    "outages",
    "How often Valkey, or a node of it, went away. Only with VALKEY_URL.",
    ({ figures: { valkey } }) => (valkey ? [valkey.outages] : []),
  ),
  counter(
    "petstore_limited_from_memory_total",
    "requests",
    "Requests that were limited from this instance's memory, because Valkey was away. Only with VALKEY_URL.",
    ({ figures: { valkey } }) => (valkey ? [valkey.limitedFromMemory] : []),
  ),
  counter("petstore_bans_earned_total", "bans", "Bans that keys have earned here.", ({ meters }) => [
    meters.counts.bansEarned,
  ]),
  gauge(
    "petstore_behind_lag_seconds",
    "seconds",
    "How old the oldest count may be that is not written down: what a crash would lose.",
    ({ figures }) => [figures.behindMs / 1000],
  ),
  counter(
    "petstore_behind_failures_total",
    "tries",
    "How often counts could not be written down; they are tried again.",
    ({ meters }) => [meters.counts.behindFailures],
  ),
];
