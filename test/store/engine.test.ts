import { expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import type { CategoryRecord } from "../../src/core/ports.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { openSqliteEngine } from "../../src/store/sqlite/engine.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { aFolder } from "../cli/command.ts";

const thread = new URL("../../src/writer.ts", import.meta.url);
const staff = { clientId: 1, keyId: 1, role: "staff" } as const;

test("whoever hears of a write reads it at once, though others were reading an older state just then", async () => {
  using folder = aFolder();
  openStore(folder.database, 1).close();
  const rules = rulesOf(readConfig({}));
  const engine = await openSqliteEngine(thread, {
    url: folder.database,
    rules,
    onFault: () => {},
    onLost: () => {},
  });
  // In many turns somebody has looked before the writer is heard.
  let isOver = false;
  const look = () => {
    if (isOver) return;
    engine.reads.category(1);
    setTimeout(look, 0);
  };
  for (let each = 0; each < 50; each++) setTimeout(look, each % 5);
  const unseen: number[] = [];
  for (let round = 0; round < 100; round++) {
    const input = { body: { name: `Dogs ${round}` } };
    const { body } = await engine.perform({ operation: "categories.create", caller: staff, input, now: 1 });
    const { id } = body as CategoryRecord;
    if (!(await engine.reads.category(id))) unseen.push(id);
  }
  isOver = true;
  await engine.close();
  expect(unseen).toEqual([]);
});
