import type { Usage } from "../contract/access-shapes.ts";
import { DAY_MS, isoDay } from "../contract/days.ts";
import type { Int64 } from "../contract/shapes.ts";
import type { ReadContext } from "./context.ts";
import { fail } from "./failure.ts";
import type { DayUsage, UsageRecord } from "./ports.ts";
import { some } from "./some.ts";

/** Days in one answer at the most, and when nothing else is asked for. */
const USAGE_DAYS = 92;
const USAGE_DAYS_BY_DEFAULT = 30;
const TOP_CLIENTS = 20;

interface Asked {
  readonly clientId?: Int64 | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Requests a day, as series that a chart draws as they are; and those of each client in all. */
export async function usageOf(
  cx: ReadContext,
  { clientId, from, to }: Asked,
): Promise<{ usage: Usage; byClient: Map<number, number> }> {
  const toDay = to === undefined ? Math.floor(cx.now / DAY_MS) : dayOf(to);
  const fromDay = from === undefined ? toDay - USAGE_DAYS_BY_DEFAULT + 1 : dayOf(from);
  const length = toDay - fromDay + 1;
  if (fromDay < 0) {
    const message = "must not be before 1970";
    fail("invalid_parameter", `The parameter from ${message}.`, [{ field: "from", message }]);
  }
  if (length < 1 || length > USAGE_DAYS) {
    const message =
      length < 1
        ? "must not be after `to`, or after today where that is left out"
        : `must be at most ${USAGE_DAYS} days before \`to\` with both counted, is ${some(length, "day")}`;
    fail("invalid_parameter", `The parameter from ${message}.`, [{ field: "from", message }]);
  }
  const days = Array.from({ length }, (_, index) => isoDay((fromDay + index) * DAY_MS));
  const series = () => new Array<number>(length).fill(0);
  const usage: Usage = { days, total: series(), byOperation: {}, byStatus: {} };
  const byClient = new Map<number, number>();
  const add = (to: number[], { day, requests }: Pick<UsageRecord, "day" | "requests">) => {
    to[day - fromDay] = (to[day - fromDay] ?? 0) + requests;
  };
  for await (const { sums, clients } of counted(cx, clientId, fromDay, toDay)) {
    for (const record of sums) {
      const status = `${record.statusClass}xx`;
      usage.byOperation[record.operation] ??= series();
      usage.byStatus[status] ??= series();
      add(usage.total, record);
      add(usage.byOperation[record.operation] as number[], record);
      add(usage.byStatus[status] as number[], record);
    }
    for (const { clientId: of, requests } of clients) byClient.set(of, (byClient.get(of) ?? 0) + requests);
  }
  return { usage, byClient };
}

/** All of one client at once; of all clients day by day. */
async function* counted(
  { store }: ReadContext,
  clientId: Int64 | undefined,
  fromDay: number,
  toDay: number,
): AsyncGenerator<DayUsage> {
  if (clientId === undefined) for (let day = fromDay; day <= toDay; day++) yield await store.usageOfDay(day);
  else {
    const records = await store.usage({ clientId, fromDay, toDay });
    yield { sums: records, clients: records };
  }
}

/** The clients with the most requests among these; of two with as many the older one first. */
export async function topClients(cx: ReadContext, byClient: ReadonlyMap<number, number>) {
  const top = [...byClient].sort(([a, ofA], [b, ofB]) => ofB - ofA || a - b).slice(0, TOP_CLIENTS);
  const clients: { clientId: number; name: string; requests: number }[] = [];
  for (const [clientId, count] of top) {
    clients.push({ clientId, name: (await cx.store.client(clientId))?.name ?? "removed", requests: count });
  }
  return clients;
}

function dayOf(date: string): number {
  return Math.floor(Date.parse(`${date}T00:00:00Z`) / DAY_MS);
}
