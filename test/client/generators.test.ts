import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { aStore, type TestStore } from "../harness.ts";
import { bin, run, runBeside } from "./packed.ts";

const GENERATING_MS = 60_000;
const root = join(import.meta.dir, "../..");
const packages = join(root, "node_modules");
let store: TestStore;
let folder: string;

/** The generators need the compiler's API of version 5, so copies of them stand beside it, in a folder of their own. */
beforeAll(async () => {
  store = await aStore();
  mkdirSync(join(root, ".tmp"), { recursive: true });
  folder = mkdtempSync(join(root, ".tmp/generators-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(packages, "typescript-5"), join(folder, "node_modules/typescript"));
  for (const name of ["openapi-typescript", "@hey-api"])
    cpSync(join(packages, name), join(folder, "node_modules", name), { recursive: true });
  await Bun.write(join(folder, "package.json"), JSON.stringify({ type: "module", private: true, imports }));
  await Bun.write(join(folder, "openapi.json"), await (await fetch(`${store.url}/openapi.json`)).text());
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await store.stop();
});

const imports = { "#paths": "./paths.ts", "#hey": "./hey/index.ts", "#hey-client": "./hey/client.gen.ts" };
const compilerOptions = {
  target: "esnext",
  module: "preserve",
  lib: ["esnext", "dom", "dom.iterable"],
  types: [],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

/** Compiles a program that uses a generated client, and runs it against the server. */
async function printed(file: string, program: string): Promise<unknown> {
  await Bun.write(join(folder, file), program);
  run([bin("tsc"), "-p", ".", "--noEmit"], folder);
  return JSON.parse(await runBeside([bin("bun"), "--no-install", file], folder));
}

test(
  "openapi-typescript and openapi-fetch make a client that compiles and places an order",
  async () => {
    const { id } = await store.aPet(5);
    run(["node", "node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "paths.ts"], folder);
    const placed = await printed(
      "fetch.ts",
      `import createClient from "openapi-fetch";
import type { paths } from "#paths";

const client = createClient<paths>({
  baseUrl: "${store.url}",
  headers: { "X-API-Key": "${store.customer.key}" },
});
const { data: pets } = await client.GET("/pets", { params: { query: { status: ["available"], limit: 1 } } });
const { data: order, error } = await client.POST("/store/orders", { body: { petId: ${id}, quantity: 2 } });
const refused = await client.POST("/store/orders", { body: { petId: ${id}, quantity: 9 } });
console.log(JSON.stringify([pets?.length, error ?? order.quantity, refused.error?.code]));
`,
    );
    expect(placed).toEqual([1, 2, "insufficient_stock"]);
  },
  GENERATING_MS,
);

test(
  "@hey-api/openapi-ts makes a client that compiles and places an order",
  async () => {
    const { id } = await store.aPet(5);
    const flags = ["-i", "openapi.json", "-o", "hey", "-c", "@hey-api/client-fetch", "--no-log-file"];
    run(["node", "node_modules/@hey-api/openapi-ts/bin/run.js", ...flags], folder);
    const placed = await printed(
      "hey-client.ts",
      `import { ordersPlace, petsList } from "#hey";
import { client } from "#hey-client";

client.setConfig({ baseUrl: "${store.url}", auth: "${store.customer.key}" });
const { data: pets } = await petsList({ query: { status: ["available"], limit: 1 } });
const { data: order, error } = await ordersPlace({ body: { petId: ${id}, quantity: 2 } });
const refused = await ordersPlace({ body: { petId: ${id}, quantity: 9 } });
console.log(JSON.stringify([pets?.length, error ?? order?.quantity, refused.error?.code]));
`,
    );
    expect(placed).toEqual([1, 2, "insufficient_stock"]);
  },
  GENERATING_MS,
);
