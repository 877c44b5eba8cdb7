export interface AbsencesOptions {
  /** A node went away, or all there is (null). */
  readonly onAway: (cause: string, node: string | null) => void;
  /** It is still away, for a cause that was not told yet. */
  readonly onStillAway: (cause: string, node: string | null) => void;
  /** It is back, or another has taken its place, and has caught up. */
  readonly onBack: (node: string | null) => void;
}

/** Who is away; each change is told once. */
export interface Absences {
  begin(node: string | null, cause: string): void;
  /** It is still away; there may be another cause than those that were told. */
  goOn(node: string | null, cause: string): void;
  end(node: string | null): void;
  areThere(): boolean;
}

export function absences({ onAway, onStillAway, onBack }: AbsencesOptions): Absences {
  /** Those that are away, and the causes that were told. */
  const away = new Map<string | null, Set<string>>();
  return {
    begin(node, cause) {
      if (away.has(node)) return;
      away.set(node, new Set([kindOf(cause)]));
      onAway(cause, node);
    },
    goOn(node, cause) {
      const told = away.get(node);
      if (!told || told.has(kindOf(cause))) return;
      told.add(kindOf(cause));
      onStillAway(cause, node);
    },
    end(node) {
      if (away.delete(node)) onBack(node);
    },
    areThere: () => away.size > 0,
  };
}

/** What Valkey says begins with a word for its kind, such as WRONGPASS. */
function kindOf(cause: string): string {
  return cause.split(" ", 1)[0] as string;
}
