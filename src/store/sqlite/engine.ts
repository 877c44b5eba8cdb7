import { Unavailable } from "../../core/failure.ts";
import type { Engine, EngineOptions } from "../engine.ts";
import { reads } from "../store.ts";
import { openCountsLog } from "./counts-log.ts";
import { countsFileOf, makePlace, stayingOf } from "./place.ts";
import { connectReader } from "./reader.ts";
import { startWriter } from "./writer.ts";

/** The more, the more rows lie side by side; the writer's thread is held for up to 0.5 s by it. */
const FOLDED_AT_ONCE = 16 * 1024 * 1024;

/** How soon it is noticed that the file was taken away under the server. */
const LOOK_FOR_FILE_MS = 500;

/** SQLite: reads in this thread, writes in the one that `thread` names. */
export async function openSqliteEngine(
  thread: URL,
  {
    url,
    rules,
    onFault,
    onLost = onFault,
    onCommit,
  }: Pick<EngineOptions, "url" | "rules" | "onFault" | "onLost" | "onCommit">,
): Promise<Engine> {
  const committed = (milliseconds: number, writes: number) => {
    // Whoever hears of a write can read it.
    reader.refresh();
    onCommit?.(milliseconds, writes);
  };
  const events = { onFault, onLost, onCommit: committed };
  const writer = await startWriter(thread, { path: url, rules }, events);
  const reader = connectReader(url);
  makePlace(countsFileOf(url));
  const counts = { ...(await openCountsLog(countsFileOf(url))), show: async () => {} };
  const isStaying = stayingOf(url);
  let isThere = true;
  const look = () => {
    const wasThere = isThere;
    isThere = isStaying();
    if (wasThere && !isThere)
      onFault(
        `${url} was removed or replaced under the server. Writes are refused, because they would be lost. Put the file back or restore a backup, and start the server again.`,
      );
  };
  const looking = setInterval(look, LOOK_FOR_FILE_MS);
  looking.unref();
  return {
    foldedAtOnce: FOLDED_AT_ONCE,
    reads: reads(reader, () => counts.show()),
    counts,
    perform: (command) =>
      isThere
        ? writer.perform(command)
        : Promise.reject(new Unavailable("The database file is not in its place.")),
    forgetAnswers: writer.forgetAnswers,
    isReady() {
      look();
      try {
        return isThere && writer.isReady() && reader.value("select 1") === 1;
      } catch {
        return false;
      }
    },
    figures: () => ({
      engine: "sqlite",
      waiting: writer.waiting(),
      bytes: Bun.file(url).size,
      logBytes: Bun.file(`${url}-wal`).size,
    }),
    async close() {
      clearInterval(looking);
      // The last to close takes the log and its index away, which a reader may not do.
      reader.close();
      await counts.close();
      await writer.close();
    },
  };
}
