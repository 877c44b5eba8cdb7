import packageFile from "../../../package.json" with { type: "json" };
import { counter, type Family, gauge } from "../family.ts";
import { DELAY_SECONDS } from "../meters.ts";

/** The process, and what runs in it. */
export const processFamilies: readonly Family[] = [
  {
    name: "petstore_event_loop_delay_seconds",
    type: "histogram",
    unit: "seconds",
    labels: [],
    help: "How late a timer was that looks 20 times a second: what every request waits besides.",
    bounds: DELAY_SECONDS,
    read: ({ meters }) => [{ labels: {}, row: meters.delaySeconds }],
  },
  counter("process_cpu_seconds_total", "seconds", "Processor time, of all threads.", ({ process }) => [
    process.cpuSeconds,
  ]),
  gauge(
    "process_resident_memory_bytes",
    "bytes",
    "Resident memory, pages of the mapped database file included.",
    ({ process }) => [process.residentBytes],
  ),
  gauge(
    "petstore_anonymous_memory_bytes",
    "bytes",
    "Resident memory without pages of files: what alarms go by. Only on Linux.",
    ({ process }) => known(process.anonymousBytes),
  ),
  gauge("petstore_heap_bytes", "bytes", "What lives in the heap of the main thread.", ({ process }) => [
    process.heapBytes,
  ]),
  gauge("process_open_fds", "files", "Open files and sockets. Only on Linux.", ({ process }) =>
    known(process.openFiles),
  ),
  gauge("process_max_fds", "files", "The limit of open files. Only on Linux.", ({ process }) =>
    known(process.mostFiles),
  ),
  gauge("process_start_time_seconds", "seconds", "When the process started, since 1970.", ({ process }) => [
    process.startedAtSeconds,
  ]),
  {
    name: "petstore_build_info",
    type: "gauge",
    unit: "",
    labels: ["version", "bun", "engine", "limits"],
    help: "Always 1; the labels say what runs.",
    read: ({ figures }) => [
      {
        labels: {
          version: packageFile.version,
          bun: Bun.version,
          engine: figures.database.engine,
          limits: figures.limits,
        },
        value: 1,
      },
    ],
  },
];

function known(value: number | null): readonly number[] {
  return value === null ? [] : [value];
}
