import { isIP } from "node:net";

// How the text of a setting is read: each gives the value, or an Error that says what it must be.

export function hostName(text: string): string | Error {
  const isName = text.length <= 253 && text.split(".").every((part) => /^\w([\w-]{0,61}\w)?$/.test(part));
  return isName || isIP(text) > 0
    ? text
    : new Error("must be an address such as 127.0.0.1 or ::1, or a host name, and nothing else");
}

export function keyPrefix(text: string): string | Error {
  return /^[\w.:-]{1,100}$/.test(text)
    ? text
    : new Error("must be 1 to 100 letters, digits, dots, colons, hyphens or underscores");
}

/** A name as it is written in a resource's attributes. */
export function word(text: string): string | Error {
  return /^[\x21-\x7e]{1,100}$/.test(text)
    ? text
    : new Error("must be 1 to 100 visible characters without spaces");
}

/** As OpenTelemetry writes headers: a list of names and values, these percent-encoded. */
export function headerPairs(text: string): Readonly<Record<string, string>> | Error {
  const pairs = text.split(",").flatMap((each) => (each.trim() === "" ? [] : [headerPair(each)]));
  return pairs.every((pair) => pair !== null)
    ? Object.fromEntries(pairs)
    : new Error(
        "must be headers such as name=value, separated by commas; what is not plain in a value is percent-encoded",
      );
}

function headerPair(text: string): readonly [string, string] | null {
  const [, name = "", encoded = ""] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(text) ?? [];
  const value = encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return name !== "" && /^[\x20-\x7e]+$/.test(value) ? [name.toLowerCase(), value] : null;
}

export function ratio(text: string): number | Error {
  const value = Number(text);
  const isRatio = /^(\d+(\.\d*)?|\.\d+)$/.test(text) && value <= 1;
  return isRatio ? value : new Error("must be a number from 0 to 1, such as 0.1");
}

export function integer(least: number, most: number): (text: string) => number | Error {
  return (text) => {
    const value = Number(text);
    const isWhole = /^\d+$/.test(text) && value >= least && value <= most;
    return isWhole ? value : new Error(`must be a whole number from ${least} to ${most}`);
  };
}

/** Null for what is not given. */
export function optional<T>(read: (text: string) => T | Error): (text: string) => T | null | Error {
  return (text) => (text === "" ? null : read(text));
}

export function integers(least: number, most: number): (text: string) => readonly number[] | Error {
  return (text) => {
    const values = text.split(",").map((each) => integer(least, most)(each.trim()));
    const isWhole = values.every((value) => typeof value === "number");
    return isWhole
      ? values
      : new Error(`must be whole numbers from ${least} to ${most}, separated by commas`);
  };
}

export function proxies(text: string): number | readonly string[] | Error {
  const hops = integer(0, 100)(text);
  if (typeof hops === "number") return hops;
  const networks = text.split(",").map((each) => each.trim());
  return networks.every(isNetwork)
    ? networks
    : new Error("must be a number of proxies, or networks such as 10.0.0.0/8, separated by commas");
}

export function oneOf<T extends string>(...values: T[]): (text: string) => T | Error {
  return (text) => values.find((value) => value === text) ?? new Error(`must be one of ${values.join(", ")}`);
}

export function onOrOff(text: string): boolean | Error {
  return text === "on" || (text === "off" ? false : new Error("must be on or off"));
}

export function dateTime(text: string): number | Error {
  const isDateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = Date.parse(text);
  const day = text.slice(0, 10);
  // A 31st of February is taken for a day of March.
  const isDay = !Number.isNaN(time) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  return isDateTime && isDay
    ? time
    : new Error("must be an RFC 3339 date-time, such as 2027-11-30T23:59:59Z");
}

export function origins(text: string): readonly string[] | Error {
  const all = text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
  const isOrigin = (each: string) => each === "*" || (URL.canParse(each) && new URL(each).origin === each);
  return all.every(isOrigin)
    ? all
    : new Error("must be origins such as https://shop.example, without a path");
}

/** Whether the text names a network such as 10.0.0.0/8, or one address. */
function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}
