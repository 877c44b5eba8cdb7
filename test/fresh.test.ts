import { expect, test } from "bun:test";
import { join } from "node:path";
import { clientApi } from "../client/generate.ts";
import { readConfig } from "../src/config.ts";
import { openapi } from "../src/contract/openapi.ts";

const root = join(import.meta.dir, "..");

test("the committed openapi.json is what the contract generates", async () => {
  const document = openapi({ sunsetAt: readConfig({}).petGetSunsetAt });
  await isFresh("openapi.json", `${JSON.stringify(document, null, 2)}\n`);
});

test("the client's committed types and routes are what the contract generates", async () => {
  await isFresh("client/src/api.ts", clientApi());
});

test("the command that generates openapi.json prints the same document", async () => {
  const { stdout, exitCode } = Bun.spawnSync([join(root, "petstore"), "openapi"], { cwd: root });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout.toString())).toEqual(
    JSON.parse(JSON.stringify(openapi({ sunsetAt: readConfig({}).petGetSunsetAt }))),
  );
});

async function isFresh(path: string, generated: string): Promise<void> {
  const committed = await Bun.file(join(root, path)).text();
  if (committed === generated) return;
  const [old, now] = [committed.split("\n"), generated.split("\n")];
  const line = now.findIndex((text, index) => text !== old[index]);
  throw new Error(
    `${path} is stale from line ${line + 1} on: "${old[line] ?? ""}" would be "${now[line] ?? ""}". Run \`npm run generate\`.`,
  );
}
