import type { Route } from "./route.ts";

/** What is told of a deprecated operation: since when, until when, and what to use. */
export function deprecationNotice({ id, what, successor }: Route, headers: Headers): string {
  const since = Number(headers.get("deprecation")?.slice(1)) * 1000;
  const link = /<([^>]*)>\s*;\s*rel="?successor-version"?/.exec(headers.get("link") ?? "")?.[1];
  return [
    `${id} (${what}) is deprecated${dayOf(" since ", since)}`,
    `${dayOf(" and ends on ", Date.parse(headers.get("sunset") ?? ""))}.`,
    successor || link ? ` Use ${successor ?? link} instead.` : "",
  ].join("");
}

function dayOf(before: string, time: number): string {
  return Number.isNaN(time) ? "" : before + new Date(time).toISOString().slice(0, 10);
}
