import { type Conduct, goodConduct } from "../core/bans.ts";

/** How keys behave, as far as memory knows, and what of it is still to be written down. */
export interface Conducts {
  size(): number;
  of(keyId: number): Conduct;
  /** It has changed, and is to be written down. */
  change(keyId: number, conduct: Conduct): void;
  /** Takes over what the database knew at that moment, where nothing newer is known here. */
  introduce(keyId: number, conduct: Conduct | null, askedAt: number): void;
  /** So many of those that have changed at the most. */
  takeChanged(most: number): KeptConduct[];
  /** These are written down. */
  areKept(kept: readonly KeptConduct[]): void;
  /** Forgets what is written down. */
  trim(): void;
}

export interface KeptConduct {
  readonly keyId: number;
  readonly conduct: Conduct;
}

export function knownConducts(): Conducts {
  const conducts = new Map<number, Conduct>();
  const changed = new Set<number>();
  /** Taken to be written down, and not yet known to be. */
  const underWay = new Set<number>();
  /** When a conduct was last written down. */
  const keptAt = new Map<number, number>();
  return {
    size: () => conducts.size,
    of: (keyId) => conducts.get(keyId) ?? goodConduct,
    change(keyId, conduct) {
      conducts.set(keyId, conduct);
      changed.add(keyId);
    },
    introduce(keyId, conduct, askedAt) {
      if (changed.has(keyId) || underWay.has(keyId)) return;
      if ((keptAt.get(keyId) ?? 0) > askedAt) return;
      if (conduct) conducts.set(keyId, conduct);
      else conducts.delete(keyId);
    },
    takeChanged(most) {
      const taken = [...changed]
        .slice(0, most)
        .map((keyId) => ({ keyId, conduct: conducts.get(keyId) ?? goodConduct }));
      for (const { keyId } of taken) {
        changed.delete(keyId);
        underWay.add(keyId);
      }
      return taken;
    },
    areKept(kept) {
      const now = performance.now();
      for (const { keyId } of kept) {
        underWay.delete(keyId);
        keptAt.set(keyId, now);
      }
    },
    trim() {
      keptAt.clear();
      for (const keyId of conducts.keys()) if (!changed.has(keyId)) conducts.delete(keyId);
    },
  };
}
