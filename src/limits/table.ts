import { WINDOW_COLUMNS, windowRows } from "../core/tally.ts";
import type { Windows } from "../core/windows.ts";

const FIRST_SLOTS = 1024;
/** Numbers of one slot, side by side: with a million clients each that lay elsewhere would be fetched from memory by itself. */
const SLOT = 4;

/** Windows of many, in rows of numbers: a million of them cost no object each and nothing for the collector to visit. */
export class WindowTable<Id> {
  private slots = new Map<Id, number>();
  private rows = new Uint32Array(FIRST_SLOTS * SLOT);
  private ids: Id[] = [];
  private changed: Uint8Array = new Uint8Array(FIRST_SLOTS);
  private changedSlots: number[] = [];
  private opened = 0;
  /** One object for all: a request's windows are copied here, counted, and copied back. */
  private readonly scratch: Windows = { minuteOpenedAt: 0, minuteCount: 0, day: 0, dayCount: 0 };

  get size(): number {
    return this.ids.length;
  }

  has(id: Id): boolean {
    return this.slots.has(id);
  }

  /**
   * The windows of one, to be looked at and counted in; a new one starts with nothing counted. They hold until the next
   * are opened, and what was counted in them stays only if they are kept.
   */
  open(id: Id): Windows {
    const slot = this.slots.get(id) ?? this.add(id);
    const { scratch, rows } = this;
    const at = slot * SLOT;
    this.opened = slot;
    scratch.minuteOpenedAt = rows[at] as number;
    scratch.minuteCount = rows[at + 1] as number;
    scratch.day = rows[at + 2] as number;
    scratch.dayCount = rows[at + 3] as number;
    return scratch;
  }

  /** Keeps the opened windows as they are now. */
  keep(): void {
    const slot = this.opened;
    this.write(slot, this.scratch);
    if (this.changed[slot] === 1) return;
    this.changed[slot] = 1;
    this.changedSlots.push(slot);
  }

  /** Takes over what was written down; it is not changed by that. */
  load(id: Id, windows: Windows): void {
    this.write(this.slots.get(id) ?? this.add(id), windows);
  }

  /** What has changed since it was last taken, as a tally's rows. */
  takeChanged(this: WindowTable<number>): Float64Array {
    const slots = this.changedSlots;
    this.changedSlots = [];
    const taken = new Float64Array(slots.length * WINDOW_COLUMNS);
    const { rows } = this;
    let end = 0;
    for (const slot of slots) {
      this.changed[slot] = 0;
      taken[end++] = this.ids[slot] as number;
      for (let at = slot * SLOT; at < (slot + 1) * SLOT; at++) taken[end++] = rows[at] as number;
    }
    return taken;
  }

  /** Forgets all but what has changed since it was last taken. */
  dropUnchanged(this: WindowTable<number>): void {
    const kept = this.takeChanged();
    this.clear();
    for (const { clientId, ...windows } of windowRows(kept)) {
      Object.assign(this.open(clientId), windows);
      this.keep();
    }
  }

  clear(): void {
    this.slots = new Map();
    this.rows = new Uint32Array(FIRST_SLOTS * SLOT);
    this.ids = [];
    this.changed = new Uint8Array(FIRST_SLOTS);
    this.changedSlots = [];
  }

  private write(slot: number, windows: Windows): void {
    const { rows } = this;
    const at = slot * SLOT;
    rows[at] = windows.minuteOpenedAt;
    rows[at + 1] = windows.minuteCount;
    rows[at + 2] = windows.day;
    rows[at + 3] = windows.dayCount;
  }

  private add(id: Id): number {
    const slot = this.ids.push(id) - 1;
    if (slot >= this.changed.length) this.grow();
    this.slots.set(id, slot);
    return slot;
  }

  private grow(): void {
    const length = this.changed.length * 2;
    const rows = new Uint32Array(length * SLOT);
    rows.set(this.rows);
    this.rows = rows;
    const changed = new Uint8Array(length);
    changed.set(this.changed);
    this.changed = changed;
  }
}
