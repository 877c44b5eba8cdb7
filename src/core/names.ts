/** A cursor holds the folded name, so it must not grow without end. */
const FOLDED_CHARACTERS = 200;
/** What one character becomes at the most. */
const LONGEST_FOLD = 18;

/** A name as it is compared: the same for every engine, because it is computed here and stored. */
export function foldName(name: string): string {
  const folded = wholeFolded(name);
  return folded.length <= FOLDED_CHARACTERS
    ? folded
    : Array.from(folded).slice(0, FOLDED_CHARACTERS).join("");
}

/** Of a page found by the folded beginning of names: where folding made that too long to be kept whole, who does begin so. */
export function namedSo<P extends { readonly body: readonly { readonly name: string }[] }>(
  page: P,
  beginning: string | undefined,
): P {
  if (beginning === undefined || beginning.length * LONGEST_FOLD <= FOLDED_CHARACTERS) return page;
  const folded = wholeFolded(beginning);
  if (folded.length <= FOLDED_CHARACTERS) return page;
  return { ...page, body: page.body.filter(({ name }) => wholeFolded(name).startsWith(folded)) };
}

function wholeFolded(name: string): string {
  // Lower case depends on what follows for one letter, the sigma; a prefix does not know what follows.
  return name.normalize("NFKC").toLowerCase().replaceAll("\u03c2", "\u03c3");
}

/** The least text after all texts with this prefix in code point order; `null` if there is none. */
export function afterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.length > 0) {
    const last = points.pop() as number;
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return null;
}
