import { afterAll } from "bun:test";
import { aValkey } from "../servers/valkey.ts";
import { limitsConform } from "./conformance.ts";
import { inValkey } from "./in-valkey.ts";

const valkey = await aValkey();
afterAll(() => valkey[Symbol.asyncDispose]());

limitsConform("Valkey", async (options, { name, run }) => {
  // A restart is one of Valkey too, in the middle of its work: what it has answered it keeps.
  if (run > 0) {
    await valkey.kill();
    await valkey.restart();
  }
  return inValkey(valkey, name, options);
});
