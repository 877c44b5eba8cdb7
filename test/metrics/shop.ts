import type { Person, TestStore } from "../harness.ts";
import { exposition, type Family } from "./exposition.ts";

export type Metrics = Map<string, Family>;

/** Every metric, read with an admin's key; or from a port of its own. */
export async function metricsOf(store: TestStore, by: Person | "port" = store.admin): Promise<Metrics> {
  const response =
    by === "port"
      ? await fetch(store.metricsUrl as string)
      : await fetch(`${store.url}/metrics`, { headers: { "x-api-key": by.key } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}: ${text}`);
  return exposition(text);
}

/** What the one sample with these labels says. */
export function figureOf(metrics: Metrics, name: string, labels: Record<string, string> = {}): number {
  const family = name.replace(/_(count|sum|bucket)$/, "");
  const samples = (metrics.get(name) ?? metrics.get(family))?.samples.filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  if (samples?.length !== 1)
    throw new Error(`${name} ${JSON.stringify(labels)} has ${samples?.length ?? 0} samples`);
  return samples[0]?.value as number;
}

/** So many answers of each kind: `GET /pets 200`. */
export function answersIn(metrics: Metrics): Record<string, number> {
  const counts = metrics
    .get("http_server_request_duration_seconds")
    ?.samples.filter(({ name }) => name.endsWith("_count"))
    .map(({ labels, value }) => {
      const { http_request_method, http_route, http_response_status_code } = labels;
      return [`${http_request_method} ${http_route} ${http_response_status_code}`, value] as const;
    });
  return Object.fromEntries(counts ?? []);
}

/** So many refusals of each code that there were. */
export function refusalsIn(metrics: Metrics): Record<string, number> {
  const samples = metrics.get("petstore_http_refusals_total")?.samples ?? [];
  return Object.fromEntries(
    samples.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.code, value]),
  );
}

/** What came to each of these counts since. */
export function since(before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after)
      .map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
      .filter(([, count]) => count !== 0),
  );
}
