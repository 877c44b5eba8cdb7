import type { Engine, EngineOptions } from "../engine.ts";
import { reads } from "../store.ts";
import { connect } from "./connection.ts";
import { startWriter } from "./writer.ts";

/** SQLite: reads in this thread, writes in the one that `thread` names. */
export async function openSqliteEngine(
  thread: URL,
  { url, rules, onFault }: Pick<EngineOptions, "url" | "rules" | "onFault">,
): Promise<Engine> {
  const writer = await startWriter(thread, { path: url, rules }, onFault);
  const reader = connect(url, "read");
  return {
    reads: reads(reader),
    perform: writer.perform,
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
