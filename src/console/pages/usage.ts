import type { AdminUsage, Usage } from "../../../client/src/index.ts";
import { hrefOf } from "../address.ts";
import { type Child, h } from "../dom.ts";
import { barsPlot, daysPlot } from "../plot.ts";
import { count } from "../words.ts";

const OPERATIONS_SHOWN = 10;
const classes = ["2xx", "3xx", "4xx", "5xx"] as const;

/** Requests over time by status, by operation, and by client where that is known. */
export function usagePlots(usage: Usage | AdminUsage, perDay: number | undefined): Child {
  const { days, byStatus, byOperation } = usage;
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const operations = Object.entries(byOperation)
    .map(([name, values]) => ({ name: name === "none" ? "no operation" : name, value: sum(values) }))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value);
  const hidden = operations.slice(OPERATIONS_SHOWN);
  return h(
    "div",
    { class: "plots" },
    daysPlot({
      title: "Requests a day, by status",
      days,
      series: classes
        .filter((name) => sum(byStatus[name] ?? []) > 0 || name === "2xx")
        .map((name) => ({ name, tone: `s${name}`, values: byStatus[name] ?? [] })),
      ...(perDay !== undefined && { limit: { name: `quota ${count(perDay)} a day`, value: perDay } }),
    }),
    barsPlot(
      hidden.length > 0
        ? `By operation, the first ${OPERATIONS_SHOWN} of ${operations.length}`
        : "By operation",
      operations.slice(0, OPERATIONS_SHOWN),
      "No requests in these days.",
    ),
    "topClients" in usage &&
      usage.topClients.length > 1 &&
      barsPlot(
        "By client",
        usage.topClients.map(({ clientId, name, requests }) => ({
          name: h("a", { href: hrefOf(`clients/${clientId}`) }, name),
          value: requests,
        })),
        "",
      ),
  );
}
