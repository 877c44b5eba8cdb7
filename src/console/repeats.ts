import type { Fetch } from "./patience.ts";

/** The keys of writes that may have been done, though their answer did not come; by what was sent. */
const unsettled = new Map<string, string>();

/** What is sent from now on is meant anew, and not as one more try of what was sent before. */
export function meanAnew(): void {
  unsettled.clear();
}

/** Whoever sends the same once more, because no answer came, repeats it by its first key: it is done once. */
export function repeating(send: Fetch): Fetch {
  return async (url, init) => {
    const headers = new Headers(init.headers);
    const own = headers.get("idempotency-key");
    if (own === null) return send(url, init);
    const what = `${init.method} ${url} ${init.body ?? ""}`;
    const key = unsettled.get(what) ?? own;
    unsettled.set(what, key);
    headers.set("idempotency-key", key);
    const response = await send(url, { ...init, headers });
    if (response.ok) unsettled.delete(what);
    return response;
  };
}
