import { rowsOf, WINDOW_COLUMNS, windowsOfRow } from "../core/tally.ts";
import type { Windows } from "../core/windows.ts";

const FIRST_SLOTS = 1024;

/** Windows of many, in columns of numbers: a million of them cost no object each and nothing for the collector to visit. */
export class WindowTable<Id> {
  private slots = new Map<Id, number>();
  private columns = columnsOf(FIRST_SLOTS);
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
    const { scratch, columns } = this;
    this.opened = slot;
    scratch.minuteOpenedAt = columns.minuteOpenedAt[slot] as number;
    scratch.minuteCount = columns.minuteCount[slot] as number;
    scratch.day = columns.day[slot] as number;
    scratch.dayCount = columns.dayCount[slot] as number;
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
    const rows = new Float64Array(slots.length * WINDOW_COLUMNS);
    const { minuteOpenedAt, minuteCount, day, dayCount } = this.columns;
    let at = 0;
    for (const slot of slots) {
      this.changed[slot] = 0;
      rows[at++] = this.ids[slot] as number;
      rows[at++] = minuteOpenedAt[slot] as number;
      rows[at++] = minuteCount[slot] as number;
      rows[at++] = day[slot] as number;
      rows[at++] = dayCount[slot] as number;
    }
    return rows;
  }

  /** Forgets all but what has changed since it was last taken. */
  dropUnchanged(this: WindowTable<number>): void {
    const kept = this.takeChanged();
    this.clear();
    for (const row of rowsOf(kept, WINDOW_COLUMNS)) {
      const { clientId, ...windows } = windowsOfRow(row);
      Object.assign(this.open(clientId), windows);
      this.keep();
    }
  }

  clear(): void {
    this.slots = new Map();
    this.columns = columnsOf(FIRST_SLOTS);
    this.ids = [];
    this.changed = new Uint8Array(FIRST_SLOTS);
    this.changedSlots = [];
  }

  private write(slot: number, windows: Windows): void {
    const { columns } = this;
    columns.minuteOpenedAt[slot] = windows.minuteOpenedAt;
    columns.minuteCount[slot] = windows.minuteCount;
    columns.day[slot] = windows.day;
    columns.dayCount[slot] = windows.dayCount;
  }

  private add(id: Id): number {
    const slot = this.ids.push(id) - 1;
    if (slot >= this.changed.length) this.grow();
    this.slots.set(id, slot);
    return slot;
  }

  private grow(): void {
    const length = this.changed.length * 2;
    const { columns } = this;
    this.columns = columnsOf(length);
    for (const name of ["minuteOpenedAt", "minuteCount", "day", "dayCount"] as const)
      this.columns[name].set(columns[name]);
    const changed = new Uint8Array(length);
    changed.set(this.changed);
    this.changed = changed;
  }
}

function columnsOf(length: number) {
  return {
    minuteOpenedAt: new Uint32Array(length),
    minuteCount: new Uint32Array(length),
    day: new Uint32Array(length),
    dayCount: new Uint32Array(length),
  };
}
