import { constants, type FileHandle, open, rm } from "node:fs/promises";
import type { Behind, CountsLog } from "../../core/behind.ts";

/** Before each part: how many bytes it has, and a sum over them. */
const HEAD_BYTES = 8;

/** What a part is but for its blocks of numbers, of which it says how long they are. */
interface Label extends Pick<Behind, "run" | "part"> {
  readonly operations: readonly string[];
  readonly windows: number;
  readonly usage: number;
  readonly lastUsed: number;
}

export interface OpenedLog extends CountsLog {
  /** The file goes, if nothing is in it that is not in the database. */
  close(): Promise<void>;
}

/**
 * A file beside the database, to which parts of what was counted are appended and synced. Whoever reads it after a crash may find parts that are
 * in the database: that knows their numbers.
 */
export async function openCountsLog(path: string): Promise<OpenedLog> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const found = partsIn(new Uint8Array(await Bun.file(path).arrayBuffer()));
  let end = found.end;
  return {
    left: found.parts,
    async append(part) {
      const bytes = bytesOf(part);
      await writeWhole(file, bytes, end);
      await file.datasync();
      end += bytes.length;
    },
    async clear() {
      end = 0;
      await file.truncate();
    },
    async close() {
      await file.close();
      if (end === 0) await rm(path, { force: true });
    },
  };
}

async function writeWhole(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  const { bytesWritten } = await file.write(bytes, 0, bytes.length, at);
  if (bytesWritten < bytes.length) throw new Error("The disk has no room for what was counted.");
}

function bytesOf({ run, part, tally }: Behind): Uint8Array {
  const { windows, usage, operations, lastUsed } = tally;
  const blocks = [windows, usage, lastUsed];
  const label: Label = {
    run,
    part,
    operations,
    windows: windows.length,
    usage: usage.length,
    lastUsed: lastUsed.length,
  };
  const text = Buffer.from(`${JSON.stringify(label)}\n`);
  const all = Buffer.concat([
    Buffer.alloc(HEAD_BYTES),
    text,
    ...blocks.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  ]);
  const content = all.subarray(HEAD_BYTES);
  all.writeUInt32LE(content.length, 0);
  all.writeUInt32LE(Bun.hash.crc32(content), 4);
  return all;
}

/** As many parts as are whole, and where they end: behind them is nothing, or what was being written. */
function partsIn(bytes: Uint8Array): { readonly parts: readonly Behind[]; readonly end: number } {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Behind[] = [];
  let end = 0;
  while (end + HEAD_BYTES <= all.length) {
    const length = all.readUInt32LE(end);
    const contentEnd = end + HEAD_BYTES + length;
    const content = all.subarray(end + HEAD_BYTES, contentEnd);
    // Where a machine failed there may be zeros, and their sum is right.
    const isThere = length > 0 && contentEnd <= all.length;
    const isWhole = isThere && Bun.hash.crc32(content) === all.readUInt32LE(end + 4);
    if (!isWhole) break;
    parts.push(partOf(content));
    end = contentEnd;
  }
  return { parts, end };
}

function partOf(content: Buffer): Behind {
  const textEnd = content.indexOf("\n") + 1;
  const { run, part, operations, ...lengths } = JSON.parse(content.toString("utf8", 0, textEnd)) as Label;
  let at = textEnd;
  const block = (length: number) => {
    // A copy, because numbers lie at multiples of their size.
    const numbers = new Float64Array(new Uint8Array(content.subarray(at, at + length * 8)).buffer);
    at += length * 8;
    return numbers;
  };
  const windows = block(lengths.windows);
  const usage = block(lengths.usage);
  const lastUsed = block(lengths.lastUsed);
  return { run, part, tally: { windows, usage, operations, lastUsed }, conduct: [], events: [] };
}
