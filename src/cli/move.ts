import { closeSync, createReadStream, fsyncSync, lstatSync, openSync, rmSync, statSync } from "node:fs";
import { Command } from "commander";
import packageFile from "../../package.json" with { type: "json" };
import type { Awaitable } from "../core/ports.ts";
import { some } from "../core/some.ts";
import { exportStore, rowsIn } from "../store/move/export.ts";
import type { Counts } from "../store/move/format.ts";
import { importStore, requireHeader } from "../store/move/import.ts";
import { giveFreeName, inWords, partialOf } from "../store/move/partial.ts";
import { progress } from "./progress.ts";
import { print, Refused, STANDARD_ERROR, STANDARD_OUTPUT, writeAll } from "./say.ts";
import { fillingDatabase, inspecting, withSettings } from "./settings.ts";
import { untilStopped } from "./signals.ts";

/** Stands for standard output or input in the place of a file. */
const STREAM = "-";

interface Options {
  readonly json?: true;
}

/** `petstore export`: the whole store as text that another engine can take over. */
export function exportCommand(): Command {
  const command = new Command("export")
    .description("Write the whole store to a file, as it is at one moment; a server may be running.")
    .argument("<file>", "A new file, or - for standard output.")
    .option("--json", "Print JSON.")
    .addHelpText(
      "after",
      `
Examples:
  petstore export store.ndjson
  petstore export store.ndjson --database-url postgres://petstore@db/petstore
  petstore export - | gzip > store.ndjson.gz

The file has no API key in it, only their hashes, but the secrets of webhooks as they are.
It is made readable by its owner only.
With - the summary goes to standard error.`,
    )
    .action((file: string, { json, ...options }: Options) =>
      inspecting(options, async ({ snapshot }) => {
        const rows = await snapshot(async (source) => {
          const bar = progress("rows", process.stderr.isTTY ? await rowsIn(source) : 0);
          const origin = { exportedAt: new Date().toISOString(), petstore: packageFile.version };
          const written = (write: Write, stop?: AbortSignal) => {
            stop?.addEventListener("abort", () => bar.end());
            return exportStore(source, origin, write, bar.add);
          };
          try {
            return await (file === STREAM ? written(toStandardOutput) : toNewFile(file, written));
          } finally {
            bar.end();
          }
        });
        const where = file === STREAM ? "standard output" : file;
        const fd = file === STREAM ? STANDARD_ERROR : STANDARD_OUTPUT;
        print(json === true, { file, rows }, `Exported ${sentence(rows)} to ${where}.`, fd);
      }),
    );
  return withSettings(command, ["databaseUrl"]);
}

/** `petstore import`: what was exported, into an empty store of any engine. */
export function importCommand(): Command {
  const command = new Command("import")
    .description("Fill an empty store from an export: all of it, proven to be whole, or nothing.")
    .argument("<file>", "A file that 'petstore export' made, or - for standard input.")
    .option("--json", "Print JSON.")
    .addHelpText(
      "after",
      `
Examples:
  petstore import store.ndjson --database-url postgres://petstore@db/petstore
  gunzip < store.ndjson.gz | petstore import - --database-url ./data/new.db`,
    )
    .action(async (file: string, { json, ...options }: Options) => {
      const bytes = file === STREAM ? 0 : sizeOf(file);
      const chunks = await recognised(
        file === STREAM ? Bun.stdin.stream() : createReadStream(file),
        file === STREAM ? "Standard input" : file,
      );
      const rows = await fillingDatabase(options, ({ fill }) =>
        fill(async (target) => {
          const bar = bytes > 0 ? progress("bytes", bytes) : progress("rows", 0);
          const seen = bytes > 0 ? counting(chunks, bar.add) : chunks;
          try {
            return await importStore(target, seen, bytes > 0 ? undefined : bar.add);
          } finally {
            bar.end();
          }
        }),
      );
      print(json === true, { file, rows }, `Imported ${sentence(rows)}. Nothing is wrong with them.`);
    });
  return withSettings(command, ["databaseUrl"]);
}

type Write = (lines: string) => Awaitable<void>;

function toStandardOutput(lines: string): void {
  writeAll(STANDARD_OUTPUT, lines, "the export");
}

/**
 * Never one that is there: an export is not worth losing another for. Until all of it is on disk it has another name, so that
 * what is half written is never taken for an export and stands in no way.
 */
function toNewFile<T>(path: string, written: (write: Write, stop: AbortSignal) => Promise<T>): Promise<T> {
  return untilStopped(async (stop) => {
    if (opened(() => lstatSync(path, { throwIfNoEntry: false }), path)) throw isThere(path);
    const partial = opened(() => partialOf(path), path);
    const fd = opened(() => openSync(partial, "wx", 0o600), path);
    const abandon = () => {
      closeSync(fd);
      rmSync(partial, { force: true });
    };
    stop.addEventListener("abort", abandon);
    const write = async (lines: string) => {
      writeAll(fd, lines, "the export");
      // Rows of a file come without a wait, and a signal is heard only in one.
      await new Promise(setImmediate);
    };
    try {
      const done = await written(write, stop);
      fsyncSync(fd);
      name(partial, path);
      closeSync(fd);
      return done;
    } catch (error) {
      abandon();
      throw error;
    }
  });
}

function name(partial: string, path: string): void {
  try {
    giveFreeName(partial, path);
  } catch (error) {
    throw (error as { code?: string }).code === "EEXIST" ? isThere(path) : inWords(error, path);
  }
}

function isThere(path: string): Refused {
  return new Refused(`${path} is there already. Name a new file.`);
}

function sizeOf(path: string): number {
  const stat = opened(() => statSync(path), path);
  if (stat.isDirectory()) throw new Refused(`Cannot read ${path}: it is a folder.`);
  // A pipe with a name has none.
  return stat.size;
}

/** How every database file of SQLite begins, and every file of gzip. */
const SQLITE = Buffer.from("SQLite format 3\0");
const GZIP = Buffer.from([0x1f, 0x8b]);
/** Far more than the first line of an export has. */
const HEADER_BYTES = 64 * 1024;

/** The same bytes, of which the first were looked at before a store is made for them: what is no export leaves none behind. */
async function recognised(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): Promise<AsyncIterable<Uint8Array>> {
  const source = chunks[Symbol.asyncIterator]();
  let beginning = Buffer.alloc(0);
  while (!beginning.includes("\n") && beginning.length < HEADER_BYTES) {
    const { done, value } = await source.next();
    if (done) break;
    beginning = Buffer.concat([beginning, value]);
  }
  if (beginning.length === 0) throw new Refused(`${name} is empty, and no export; nothing was changed.`);
  if (beginning.indexOf(SQLITE) === 0)
    throw new Refused(
      `${name} is a database, and no export. If it is a backup, 'petstore restore' takes it; nothing was changed.`,
    );
  if (beginning.indexOf(GZIP) === 0)
    throw new Refused(
      `${name} is compressed by gzip. Unpack it on the way: 'gunzip < FILE | petstore import -'; nothing was changed.`,
    );
  await requireHeader(beginning);
  return continued(beginning, source);
}

async function* continued(
  beginning: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield beginning;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function opened<T>(open: () => T, path: string): T {
  try {
    return open();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    throw new Refused(
      code === "ENOENT" ? `Cannot open ${path}: it is not there.` : `Cannot open: ${message}.`,
    );
  }
}

async function* counting(
  chunks: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

function sentence(rows: Counts): string {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const { pets = 0, orders = 0, clients = 0 } = rows;
  return `${some(total, "row")} (pets: ${pets}, orders: ${orders}, clients: ${clients}, ...)`;
}
