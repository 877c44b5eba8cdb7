import type { UsageRecord } from "../core/ports.ts";

const DAY_MS = 86_400_000;
const STATUS_CLASSES = 8;

export interface UsageCounter {
  record(clientId: number, operation: string | undefined, status: number, now: number): void;
  /** What was counted since it was last taken. */
  take(): UsageRecord[];
}

/** Requests by client, operation and class of status, until they are written down. */
export function usageCounter(): UsageCounter {
  let today = 0;
  let earlier: UsageRecord[] = [];
  let counts = new Map<string, Map<number, number>>();

  const taken = (): UsageRecord[] => {
    const records: UsageRecord[] = [];
    for (const [operation, byCaller] of counts) {
      for (const [key, requests] of byCaller) {
        const statusClass = key % STATUS_CLASSES;
        records.push({
          clientId: (key - statusClass) / STATUS_CLASSES,
          day: today,
          operation,
          statusClass,
          requests,
        });
      }
    }
    counts = new Map();
    return records;
  };
  return {
    record(clientId, operation = "none", status, now) {
      const day = Math.floor(now / DAY_MS);
      if (day !== today) {
        earlier = earlier.concat(taken());
        today = day;
      }
      let byCaller = counts.get(operation);
      if (!byCaller) {
        byCaller = new Map();
        counts.set(operation, byCaller);
      }
      const key = clientId * STATUS_CLASSES + Math.floor(status / 100);
      byCaller.set(key, (byCaller.get(key) ?? 0) + 1);
    },
    take() {
      const records = earlier.concat(taken());
      earlier = [];
      return records;
    },
  };
}
