import { counter, type Family, gauge } from "../family.ts";

/** What becomes of spans. */
export const traceFamilies: readonly Family[] = [
  counter(
    "petstore_trace_spans_sent_total",
    "spans",
    "Spans that the collector has taken. Only with OTEL_EXPORTER_OTLP_ENDPOINT.",
    ({ figures }) => (figures.traces ? [figures.traces.sent] : []),
  ),
  counter(
    "petstore_trace_spans_dropped_total",
    "spans",
    "Spans that were dropped: the collector was away for too long, or refused them. Only with OTEL_EXPORTER_OTLP_ENDPOINT.",
    ({ figures }) => (figures.traces ? [figures.traces.dropped] : []),
  ),
  gauge(
    "petstore_trace_spans_waiting",
    "spans",
    "Spans that wait to be sent. Only with OTEL_EXPORTER_OTLP_ENDPOINT.",
    ({ figures }) => (figures.traces ? [figures.traces.waiting] : []),
  ),
];
