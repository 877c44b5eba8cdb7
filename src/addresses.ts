import { resolve } from "node:path";

/** An address as it may be shown. */
export function withoutPassword(address: string): string {
  return address.replace(/^(\w+:\/\/[^:/?#]*):.*@/, "$1:***@").replace(/([?&]password=)[^&]*/i, "$1***");
}

/** A file, or a PostgreSQL. */
export function databaseAddress(text: string): string | Error {
  const scheme = /^([a-z]+):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === "postgres" || scheme === "postgresql") {
    const isWhole = URL.canParse(text) && new URL(text).pathname.length > 1;
    return isWhole ? text : new Error("must be like postgres://user:password@host:5432/database");
  }
  if (scheme && scheme !== "file")
    return new Error("must be the path of a database file, or an address that begins with postgres://");
  return text.trim() === "" ? new Error("must not be empty") : resolve(text.replace(/^file:\/\//, ""));
}

const VALKEY_PORT = 6379;

/** One server, or some nodes of a cluster; what is before and after the hosts is the same for all. */
export function valkeyAddresses(text: string): readonly string[] | null | Error {
  if (text.trim() === "") return null;
  const parts = /^(?:redis|valkey)(s?:\/\/(?:[^/?#]*@)?)([^/?#]+)((?:\/(?!\/)|[?#]|$).*)$/s.exec(text.trim());
  const [, before, hosts = "", after] = parts ?? [];
  const all = hosts.split(",").map((host) => host.trim() && `redis${before}${withPort(host.trim())}${after}`);
  return all.every((address) => URL.canParse(address))
    ? all
    : new Error(
        "must be an address such as redis://127.0.0.1:6379 or rediss://user:password@host:6379/0, of a cluster also redis://user:password@one:6379,two:6379",
      );
}

/** An IPv6 address is in brackets. */
function withPort(host: string): string {
  return /:[^\]]*$/.test(host) ? host : `${host}:${VALKEY_PORT}`;
}

/** Where traces are sent. A password in it would be shown where the address is: it belongs into a header. */
export function collectorAddress(text: string): string | Error {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url && /^https?:$/.test(url.protocol) && !/[?#]/.test(text) && url.username + url.password === "";
  return isPlain
    ? `${url.origin}${url.pathname.replace(/\/+$/, "")}/v1/traces`
    : new Error(
        "must be an address such as http://127.0.0.1:4318, without a password and a query; what the collector must know besides is in OTEL_EXPORTER_OTLP_HEADERS",
      );
}
