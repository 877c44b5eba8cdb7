import { counter, type Family, gauge } from "../family.ts";
import { REQUEST_SECONDS } from "../requests.ts";

/** What callers ask and are answered. */
export const requestFamilies: readonly Family[] = [
  {
    name: "http_server_request_duration_seconds",
    type: "histogram",
    unit: "seconds",
    labels: ["http_request_method", "http_route", "http_response_status_code"],
    help: "Requests by how long they took, from their last header to their answer.",
    bounds: REQUEST_SECONDS,
    read: ({ meters }) =>
      meters.requests.answers().map(({ method, route, status, seconds }) => ({
        labels: {
          http_request_method: method,
          http_route: route,
          http_response_status_code: String(status),
        },
        row: seconds,
      })),
  },
  {
    name: "petstore_http_refusals_total",
    type: "counter",
    unit: "requests",
    labels: ["code"],
    help: "Requests that were answered with an error, by its code.",
    read: ({ meters }) => meters.requests.refusals().map(([code, value]) => ({ labels: { code }, value })),
  },
  gauge("http_server_active_requests", "requests", "Requests that are being answered.", ({ figures }) => [
    figures.http.underWay,
  ]),
  gauge("petstore_http_connections", "connections", "Open connections of callers.", ({ figures }) => [
    figures.http.connections,
  ]),
  gauge(
    "petstore_http_connections_max",
    "connections",
    "Connections that the limit of open files has room for.",
    ({ figures }) => [figures.http.mostConnections],
  ),
  counter(
    "petstore_http_connections_turned_away_total",
    "connections",
    "Connections that were closed as they came, because there were too many.",
    ({ figures }) => [figures.http.turnedAway],
  ),
];
