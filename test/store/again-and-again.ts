// Forty callers, each of whom writes again as soon as it is answered, three times: prints how many writes each commit had.
import { readConfig } from "../../src/config.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { BOUNDS, startWriter } from "../../src/store/sqlite/writer.ts";

const fallible = new URL("./fallible-writer.ts", import.meta.url);
const start = { path: process.argv[2] as string, rules: rulesOf(readConfig({})) };
const commits: number[] = [];
const fault = (error: unknown) => console.error(error);
const writer = await startWriter(fallible, start, fault, BOUNDS, (_, writes) => commits.push(writes));
const caller = async (_: unknown, number: number) => {
  for (const time of ["first", "second", "third"])
    await writer.perform({
      operation: "categories.create",
      caller: { clientId: 1, keyId: 1, role: "staff" },
      input: { body: { name: `${number}, the ${time} time` } },
      now: 1,
    });
};
await Promise.all(Array.from({ length: 40 }, caller));
await writer.close();
console.log(JSON.stringify(commits));
