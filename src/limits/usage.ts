import { DAY_MS } from "../contract/days.ts";
import { inOne, STATUS_CLASSES, type Tally, USAGE_COLUMNS } from "../core/tally.ts";

export interface UsageCounter {
  record(clientId: number, operation: string | undefined, status: number, now: number): void;
  /** What was counted since it was last taken. */
  take(): Pick<Tally, "usage" | "operations">;
}

/** Requests by client, operation and class of status, until they are written down. */
export function usageCounter(): UsageCounter {
  let today = 0;
  /** Rows of days that were over before they were taken. */
  let earlier: Float64Array[] = [];
  /** An operation keeps its number for as long as the counter lives. */
  const operations: string[] = [];
  const counts = new Map<string, { readonly number: number; byCaller: Map<number, number> }>();

  const taken = (): Float64Array => {
    let callers = 0;
    for (const { byCaller } of counts.values()) callers += byCaller.size;
    const rows = new Float64Array(callers * USAGE_COLUMNS);
    let end = 0;
    for (const counted of counts.values()) {
      for (const [key, requests] of counted.byCaller) {
        const statusClass = key % STATUS_CLASSES;
        rows[end++] = (key - statusClass) / STATUS_CLASSES;
        rows[end++] = today;
        rows[end++] = counted.number;
        rows[end++] = statusClass;
        rows[end++] = requests;
      }
      counted.byCaller = new Map();
    }
    return rows;
  };
  return {
    record(clientId, operation = "none", status, now) {
      const day = Math.floor(now / DAY_MS);
      if (day !== today) {
        earlier.push(taken());
        today = day;
      }
      let counted = counts.get(operation);
      if (!counted) {
        counted = { number: operations.push(operation) - 1, byCaller: new Map() };
        counts.set(operation, counted);
      }
      const key = clientId * STATUS_CLASSES + Math.floor(status / 100);
      counted.byCaller.set(key, (counted.byCaller.get(key) ?? 0) + 1);
    },
    take() {
      const usage = inOne([...earlier, taken()]);
      earlier = [];
      return { usage, operations: [...operations] };
    },
  };
}
