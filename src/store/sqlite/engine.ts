import type { Engine, EngineOptions } from "../engine.ts";
import { reads } from "../store.ts";
import { connectReader } from "./connection.ts";
import { startWriter } from "./writer.ts";

/** The more, the more rows lie side by side; the writer's thread is held for 0.3 to 0.5 s by it, checkpoint included. */
const FOLDED_AT_ONCE = 16 * 1024 * 1024;

/** SQLite: reads in this thread, writes in the one that `thread` names. */
export async function openSqliteEngine(
  thread: URL,
  { url, rules, onFault }: Pick<EngineOptions, "url" | "rules" | "onFault">,
): Promise<Engine> {
  const writer = await startWriter(thread, { path: url, rules }, onFault);
  const reader = connectReader(url);
  return {
    foldedAtOnce: FOLDED_AT_ONCE,
    reads: reads(reader),
    async perform(command) {
      const performed = await writer.perform(command);
      // Whoever hears of the write can read it.
      reader.refresh();
      return performed;
    },
    forgetAnswers: writer.forgetAnswers,
    isReady() {
      try {
        return writer.isReady() && reader.value("select 1") === 1;
      } catch {
        return false;
      }
    },
    async close() {
      await writer.close();
      reader.close();
    },
  };
}
