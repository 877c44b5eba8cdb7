import { dutifulPeers, scaledFastify } from "./contenders.ts";
import { type Figure, OURS, shown, type Table } from "./figures.ts";
import { requestNames } from "./scenarios/requests.ts";
import { scaledNames } from "./scenarios/scaled.ts";

/** Tables in which less is better, and all peers stand beside ours. */
const littleNames = ["start", "memory-idle", "memory-first", "memory", "install", "install-runtime"];

interface Measure {
  readonly what: string;
  readonly of: (figure: Figure) => number | undefined;
}

/** Where a peer is better than ours, but for rates, which the aims judge: what it is, ours, and who with how much. */
export function ahead(tables: readonly Table[]): string[][] {
  return tables.flatMap((table) =>
    measuresOf(table).flatMap(({ what, of }) => {
      const base = table.figures.find(({ who }) => who === table.against);
      const ours = base && of(base);
      if (ours === undefined) return [];
      const better = table.figures.filter((figure) => isRival(table, figure) && (of(figure) ?? ours) < ours);
      const theirs = better.map((figure) => `${figure.who}: ${shown(of(figure) as number)}`);
      return better.length === 0 ? [] : [[what, shown(ours), theirs.join("; ")]];
    }),
  );
}

function measuresOf({ name, title, unit }: Table): Measure[] {
  if (littleNames.includes(name))
    return [
      { what: `${title}, ${unit}`, of: ({ middle }) => middle },
      { what: `${title}, its own, ${unit}`, of: ({ ownMebibytes }) => ownMebibytes },
    ];
  if (![...requestNames, ...scaledNames].includes(name)) return [];
  return [{ what: `${title}: p99, ms`, of: ({ p99Milliseconds }) => p99Milliseconds }];
}

/** Where requests are answered, who promises the same; anywhere else every peer. */
function isRival({ name }: Table, { who }: Figure): boolean {
  if (littleNames.includes(name)) return !who.startsWith(OURS);
  return [...dutifulPeers, scaledFastify].some((peer) => peer.name === who);
}
