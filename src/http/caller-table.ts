import { KEY_CHARACTERS } from "../core/key-format.ts";
import type { KnownCaller } from "./caller.ts";

/** Where a key is that a table does not have. */
export const NOWHERE = -1;

const FIRST_PLACES = 1024;
/** Of the first stretch of rows, as a power of two. */
const FIRST_ROWS_BITS = 10;

// A row in words of 32 bits: the key's characters and the second of its last use, which are 64 bytes, then three numbers and which terms.
const KEY_WORDS = Math.ceil(KEY_CHARACTERS / 4);
const USED = 15;
const TERMS = 22;
const ROW_WORDS = 24;
// The three, in numbers of 64 bits.
const CLIENT = 8;
const KEY = 9;
const EXPIRY = 10;
const ROW_NUMBERS = ROW_WORDS / 2;

/** What many keys have in common. */
type Terms = Pick<KnownCaller, "role" | "perMinute" | "perDay" | "bannedUntil" | "lifts">;

/** Rows that lie one after another, to be read in both ways. */
interface Stretch {
  readonly first: number;
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
}

/**
 * Callers by their keys, in rows of numbers. As objects a million of them are as many things for the collector to visit, and it
 * lets so much garbage gather beside them that no cache holds it (docs/decisions/callers.md).
 */
export class CallerTable {
  /** By a key's hash its row, counted from 1; 0 where none is. At most half of the places are taken. */
  private places = new Uint32Array(FIRST_PLACES);
  /** Each as long as all before it: nothing is copied when there are more rows, and a million of them are eleven stretches. */
  private readonly stretches: Stretch[] = [];
  private readonly terms = new Interned<Terms>();
  private rows = 0;
  /** The key that was last looked for. */
  private readonly sought = new Uint32Array(KEY_WORDS);
  private readonly soughtBytes = new Uint8Array(this.sought.buffer, 0, KEY_CHARACTERS);

  get size(): number {
    return this.rows;
  }

  /** The row of a key. */
  find(key: string): number {
    if (key.length !== KEY_CHARACTERS) return NOWHERE;
    // What is not plain characters is longer than a key.
    if (encoder.encodeInto(key, this.soughtBytes).written !== KEY_CHARACTERS) return NOWHERE;
    const { places, sought } = this;
    const last = places.length - 1;
    for (let at = scattered(sought, 0) & last; ; at = (at + 1) & last) {
      const row = (places[at] as number) - 1;
      if (row === NOWHERE || this.isSought(row)) return row;
    }
  }

  /** Keeps what is known of a key that is whole; gives its row. */
  put(key: string, caller: KnownCaller, usedAt: number): number {
    const { keyId, clientId, expiresAt, role, perMinute, perDay, bannedUntil, lifts } = caller;
    const found = this.find(key);
    const row = found === NOWHERE ? this.addSought() : found;
    const { first, words, numbers } = this.stretchOf(row);
    const word = (row - first) * ROW_WORDS;
    const number = (row - first) * ROW_NUMBERS;
    words[word + USED] = secondOf(usedAt);
    words[word + TERMS] = this.terms.numberOf({ role, perMinute, perDay, bannedUntil, lifts });
    numbers[number + CLIENT] = clientId;
    numbers[number + KEY] = keyId;
    numbers[number + EXPIRY] = expiresAt ?? Number.POSITIVE_INFINITY;
    return row;
  }

  callerAt(row: number): KnownCaller {
    const { first, words, numbers } = this.stretchOf(row);
    const number = (row - first) * ROW_NUMBERS;
    const terms = this.terms.at(words[(row - first) * ROW_WORDS + TERMS] as number);
    const { role, perMinute, perDay, bannedUntil, lifts } = terms;
    const clientId = numbers[number + CLIENT] as number;
    const keyId = numbers[number + KEY] as number;
    const expiry = numbers[number + EXPIRY] as number;
    const expiresAt = expiry === Number.POSITIVE_INFINITY ? null : expiry;
    return { keyId, clientId, role, perMinute, perDay, bannedUntil, lifts, expiresAt };
  }

  /** When its key was last used, to the second. */
  usedAt(row: number): number {
    const { first, words } = this.stretchOf(row);
    return (words[(row - first) * ROW_WORDS + USED] as number) * 1000;
  }

  use(row: number, at: number): void {
    const { first, words } = this.stretchOf(row);
    words[(row - first) * ROW_WORDS + USED] = secondOf(at);
  }

  private isSought(row: number): boolean {
    const { sought } = this;
    const { first, words } = this.stretchOf(row);
    const start = (row - first) * ROW_WORDS;
    for (let at = 0; at < KEY_WORDS; at++) if (words[start + at] !== sought[at]) return false;
    return true;
  }

  private addSought(): number {
    const row = this.rows++;
    if (stretchIndex(row) === this.stretches.length) this.stretches.push(newStretch(row));
    const { first, words } = this.stretchOf(row);
    words.set(this.sought, (row - first) * ROW_WORDS);
    if (this.rows * 2 > this.places.length) this.morePlaces();
    else this.place(row);
    return row;
  }

  private stretchOf(row: number): Stretch {
    return this.stretches[stretchIndex(row)] as Stretch;
  }

  private place(row: number): void {
    const { places } = this;
    const { first, words } = this.stretchOf(row);
    const last = places.length - 1;
    let at = scattered(words, (row - first) * ROW_WORDS) & last;
    while (places[at] !== 0) at = (at + 1) & last;
    places[at] = row + 1;
  }

  private morePlaces(): void {
    this.places = new Uint32Array(this.places.length * 2);
    for (let row = 0; row < this.rows; row++) this.place(row);
  }
}

/** Equal things, once. */
class Interned<T extends object> {
  private readonly values: T[] = [];
  private readonly numbers = new Map<string, number>();

  numberOf(value: T): number {
    const text = JSON.stringify(value);
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    const number = this.values.push(value) - 1;
    this.numbers.set(text, number);
    return number;
  }

  at(number: number): T {
    return this.values[number] as T;
  }
}

const encoder = new TextEncoder();

function secondOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function stretchIndex(row: number): number {
  return 32 - Math.clz32(row >> FIRST_ROWS_BITS);
}

/** The one that begins with this row. */
function newStretch(first: number): Stretch {
  const numbers = new Float64Array((first === 0 ? 1 << FIRST_ROWS_BITS : first) * ROW_NUMBERS);
  return { first, numbers, words: new Uint32Array(numbers.buffer) };
}

/** A key is random by itself: the eight characters after its prefix scatter keys well enough. */
function scattered(words: Uint32Array, start: number): number {
  const mixed =
    Math.imul(words[start + 2] as number, 0x9e3779b1) ^ Math.imul(words[start + 3] as number, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}
