// Forty callers, each of whom writes again as soon as it is answered, three times; then one more write, and the writer is closed in
// the same turn: prints how many writes each commit had.
import { readConfig } from "../../src/config.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { startWriter } from "../../src/store/sqlite/writer.ts";

const fallible = new URL("./fallible-writer.ts", import.meta.url);
const start = { path: process.argv[2] as string, rules: rulesOf(readConfig({})) };
const commits: number[] = [];
const fault = (error: unknown) => console.error(error);
const onCommit = (_: number, writes: number) => void commits.push(writes);
const writer = await startWriter(fallible, start, { onFault: fault, onLost: fault, onCommit });
const write = (name: string) =>
  writer.perform({
    operation: "categories.create",
    caller: { clientId: 1, keyId: 1, role: "staff" },
    input: { body: { name } },
    now: 1,
  });
const caller = async (_: unknown, number: number) => {
  for (const time of ["first", "second", "third"]) await write(`${number}, the ${time} time`);
};
await Promise.all(Array.from({ length: 40 }, caller));
const last = write("the last of all");
const closed = writer.close();
// The thread is told of the end before the next turn.
Bun.sleepSync(100);
await Promise.all([last, closed]);
console.log(JSON.stringify(commits));
