import type { Figures } from "./figures.ts";
import type { Meters } from "./meters.ts";
import type { ProcessFigures } from "./process.ts";

/** All that is known at one moment. */
export interface Moment {
  readonly meters: Meters;
  readonly figures: Figures;
  readonly process: ProcessFigures;
}

type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export interface Distribution {
  readonly labels: Labels;
  /** As in `histogram.ts`. */
  readonly row: Float64Array;
}

interface Named {
  readonly name: string;
  readonly unit: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** A metric: its name, and what it says at a moment; nothing where it means nothing. */
export type Family =
  | (Named & { readonly type: "counter" | "gauge"; readonly read: (at: Moment) => readonly Sample[] })
  | (Named & {
      readonly type: "histogram";
      readonly bounds: readonly number[];
      readonly read: (at: Moment) => readonly Distribution[];
    });

type Read = (at: Moment) => readonly number[];

export function gauge(name: string, unit: string, help: string, read: Read): Family {
  return { name, type: "gauge", unit, labels: [], help, read: (at) => read(at).map(unlabelled) };
}

export function counter(name: string, unit: string, help: string, read: Read): Family {
  return { name, type: "counter", unit, labels: [], help, read: (at) => read(at).map(unlabelled) };
}

function unlabelled(value: number): Sample {
  return { labels: {}, value };
}
