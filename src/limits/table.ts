import { WINDOW_COLUMNS, windowRows } from "../core/tally.ts";
import type { Windows } from "../core/windows.ts";

const FIRST_ROWS = 1024;
const NOWHERE = -1;

// A row in words of 32 bits: whose it is, which is a number of 64, the windows, and whether they have changed. All of it side by
// side: with a million clients whatever lay elsewhere would be fetched from memory by itself.
const ROW_WORDS = 8;
const MINUTE_OPENED_AT = 2;
const MINUTE_COUNT = 3;
const DAY = 4;
const DAY_COUNT = 5;
const HAS_CHANGED = 6;
/** In numbers of 64 bits. */
const ROW_NUMBERS = ROW_WORDS / 2;

/** Windows of many, in rows of numbers: a million of them cost no object each and nothing for the collector to visit. */
export class WindowTable {
  /** By an id's hash its row, counted from 1; 0 where none is. At most half of the places are taken. */
  private places = new Uint32Array(FIRST_ROWS * 2);
  private words = new Uint32Array(FIRST_ROWS * ROW_WORDS);
  /** The same memory, read for the ids. */
  private numbers = new Float64Array(this.words.buffer);
  private rows = 0;
  private changedRows: number[] = [];
  private opened = 0;
  /** One object for all: a request's windows are copied here, counted, and copied back. */
  private readonly scratch: Windows = { minuteOpenedAt: 0, minuteCount: 0, day: 0, dayCount: 0 };

  get size(): number {
    return this.rows;
  }

  has(id: number): boolean {
    return this.find(id) !== NOWHERE;
  }

  /**
   * The windows of one, to be looked at and counted in; a new one starts with nothing counted. They hold until the next
   * are opened, and what was counted in them stays only if they are kept.
   */
  open(id: number): Windows {
    const row = this.rowOf(id);
    const { scratch, words } = this;
    const at = row * ROW_WORDS;
    this.opened = row;
    scratch.minuteOpenedAt = words[at + MINUTE_OPENED_AT] as number;
    scratch.minuteCount = words[at + MINUTE_COUNT] as number;
    scratch.day = words[at + DAY] as number;
    scratch.dayCount = words[at + DAY_COUNT] as number;
    return scratch;
  }

  /** Keeps the opened windows as they are now. */
  keep(): void {
    const row = this.opened;
    this.write(row, this.scratch);
    const at = row * ROW_WORDS + HAS_CHANGED;
    if (this.words[at] === 1) return;
    this.words[at] = 1;
    this.changedRows.push(row);
  }

  /** Takes over what was written down; it is not changed by that. */
  load(id: number, windows: Windows): void {
    this.write(this.rowOf(id), windows);
  }

  /** What has changed since it was last taken, as a tally's rows. */
  takeChanged(): Float64Array {
    const { changedRows, words, numbers } = this;
    this.changedRows = [];
    const taken = new Float64Array(changedRows.length * WINDOW_COLUMNS);
    let end = 0;
    for (const row of changedRows) {
      const at = row * ROW_WORDS;
      words[at + HAS_CHANGED] = 0;
      taken[end++] = numbers[row * ROW_NUMBERS] as number;
      taken[end++] = words[at + MINUTE_OPENED_AT] as number;
      taken[end++] = words[at + MINUTE_COUNT] as number;
      taken[end++] = words[at + DAY] as number;
      taken[end++] = words[at + DAY_COUNT] as number;
    }
    return taken;
  }

  /** Forgets all but what has changed since it was last taken. */
  dropUnchanged(): void {
    const kept = this.takeChanged();
    this.clear();
    for (const { clientId, ...windows } of windowRows(kept)) {
      Object.assign(this.open(clientId), windows);
      this.keep();
    }
  }

  clear(): void {
    this.rows = 0;
    this.changedRows = [];
    this.places = new Uint32Array(FIRST_ROWS * 2);
    this.words = new Uint32Array(FIRST_ROWS * ROW_WORDS);
    this.numbers = new Float64Array(this.words.buffer);
  }

  private write(row: number, windows: Windows): void {
    const { words } = this;
    const at = row * ROW_WORDS;
    words[at + MINUTE_OPENED_AT] = windows.minuteOpenedAt;
    words[at + MINUTE_COUNT] = windows.minuteCount;
    words[at + DAY] = windows.day;
    words[at + DAY_COUNT] = windows.dayCount;
  }

  private rowOf(id: number): number {
    const row = this.find(id);
    return row === NOWHERE ? this.add(id) : row;
  }

  private find(id: number): number {
    const { places, numbers } = this;
    const last = places.length - 1;
    for (let at = scattered(id) & last; ; at = (at + 1) & last) {
      const row = (places[at] as number) - 1;
      if (row === NOWHERE || numbers[row * ROW_NUMBERS] === id) return row;
    }
  }

  private add(id: number): number {
    if (this.rows * ROW_WORDS === this.words.length) this.grow();
    const row = this.rows++;
    this.numbers[row * ROW_NUMBERS] = id;
    this.place(row);
    return row;
  }

  private place(row: number): void {
    const { places, numbers } = this;
    const last = places.length - 1;
    let at = scattered(numbers[row * ROW_NUMBERS] as number) & last;
    while (places[at] !== 0) at = (at + 1) & last;
    places[at] = row + 1;
  }

  private grow(): void {
    const words = new Uint32Array(this.words.length * 2);
    words.set(this.words);
    this.words = words;
    this.numbers = new Float64Array(words.buffer);
    this.places = new Uint32Array(this.places.length * 2);
    for (let row = 0; row < this.rows; row++) this.place(row);
  }
}

/** Ids that lie apart in any regular way are scattered all the same; those of more than 32 bits too. */
function scattered(id: number): number {
  const mixed = Math.imul(id, 0x9e3779b1) ^ Math.imul(id / 2 ** 32, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}
