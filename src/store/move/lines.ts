import { createHash } from "node:crypto";
import { CannotMove } from "./moving.ts";

/** A line may hold a tally of a million clients; a file without line ends must not fill the memory. */
const LINE_BYTES = 256 * 1024 * 1024;
const LINE_END = 10;

export interface Lines {
  /** The next line as JSON; throws when there is none. */
  next(): Promise<unknown>;
  /** The number of the line that was read last. */
  readonly number: number;
  /** Over all lines before the one that was read last, with their ends. */
  readonly sha256Before: () => string;
  /** Throws if there is more. */
  end(): Promise<void>;
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Reads JSON line by line, however the bytes come. */
export function linesOf(chunks: Chunks): Lines {
  const lines = split(chunks);
  const hash = createHash("sha256");
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let number = 0;
  let last: Uint8Array | undefined;
  return {
    async next() {
      if (last) hash.update(last);
      number += 1;
      const { value } = await lines.next();
      if (!value) throw new CannotMove("the file ends here, and is not whole");
      if (value.at(-1) !== LINE_END)
        throw new CannotMove("the file ends in the middle of this line, and is not whole");
      last = value;
      try {
        return JSON.parse(decoder.decode(value));
      } catch {
        throw new CannotMove("this is not JSON in UTF-8");
      }
    },
    get number() {
      return number;
    },
    sha256Before: () => hash.copy().digest("hex"),
    async end() {
      number += 1;
      const { value } = await lines.next();
      if (value) throw new CannotMove("nothing may follow the file's last line");
    },
  };
}

/** Lines with their ends; the last may have none. */
async function* split(chunks: Chunks): AsyncGenerator<Uint8Array, undefined> {
  let begun: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      const rest = chunk.subarray(start, end + 1);
      yield begun.length === 0 ? rest : Buffer.concat([...begun, rest]);
      begun = [];
      length = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    begun.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > LINE_BYTES)
      throw new CannotMove(`this is longer than a line can be, ${LINE_BYTES / 1024 / 1024} MiB`);
  }
  if (begun.length > 0) yield Buffer.concat(begun);
}
