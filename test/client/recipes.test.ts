import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { loadDemo } from "../../src/core/demo.ts";
import { rulesOf } from "../../src/core/rules.ts";
import { aStore } from "../harness.ts";
import { aProject, bin, type Project, run, runBeside } from "./packed.ts";

const FREE = { perMinute: 60, perDay: 1000 };
const secret = `whsec_${Buffer.alloc(24, 5).toString("base64")}`;
const readme = await Bun.file(join(import.meta.dir, "../../client/README.md")).text();
const start = blocks(readme.slice(readme.indexOf("## Start")), "ts")[0] as string;
const recipes = readme
  .split(/^### (?=\d+\. )/m)
  .slice(1)
  .map((text) => ({
    title: text.split("\n")[0] as string,
    program: blocks(text, "ts")[0] as string,
    prints: blocks(text, "text")[0] as string,
  }));
let project: Project;

beforeAll(async () => {
  project = await aProject();
  for (const [index, { program }] of recipes.entries())
    await Bun.write(
      join(project.folder, fileOf(index)),
      `${start}\n${program}${index === 9 ? delivery() : ""}`,
    );
});
afterAll(() => project[Symbol.dispose]());

function blocks(text: string, language: string): string[] {
  return Array.from(
    text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, "gm")),
    ([, code]) => code as string,
  );
}

function fileOf(index: number): string {
  return `recipe-${index + 1}.ts`;
}

/** What the store would send to the last recipe's function. */
function delivery(): string {
  const data = { id: 12, petId: 7, quantity: 2, complete: false };
  const body = JSON.stringify({
    specversion: "1.0",
    id: "1",
    source: "/",
    type: "order.placed",
    time: "",
    data,
  });
  const seconds = Math.floor(Date.now() / 1000);
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`msg_1.${seconds}.${body}`).digest("base64");
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,${signature}`,
  };
  return `
void client;
const deliver = (body: string) =>
  receive(new Request("http://x", { method: "POST", body, headers: ${JSON.stringify(headers)} }));
const statuses = [(await deliver(${JSON.stringify(body)})).status, (await deliver("{}")).status];
if (String(statuses) !== "204,400") throw new Error(String(statuses));
`;
}

test("there are eleven recipes", () => {
  expect(recipes).toHaveLength(11);
});

for (const [index, { title, prints }] of recipes.entries()) {
  test(`recipe ${title}: prints what it says`, async () => {
    await using store = await aStore();
    await store.beside.transact((writes) => loadDemo(writes, 0, rulesOf(store.config), store.clock.now));
    const { key } = index === 7 ? await store.newPerson("customer", { quota: FREE }) : store.admin;
    const env = { PETSTORE_URL: store.url, PETSTORE_KEY: key, WEBHOOK_SECRET: secret, NO_COLOR: "1" };
    expect(await runBeside([bin("bun"), "--no-install", fileOf(index)], project.folder, env)).toBe(prints);
  });
}

test("the recipes compile in a project that is as strict as can be", async () => {
  const compilerOptions = {
    target: "es2022",
    module: "nodenext",
    lib: ["es2022", "dom", "dom.iterable"],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    verbatimModuleSyntax: true,
    skipLibCheck: false,
    noEmit: true,
  };
  await Bun.write(
    join(project.folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["*.ts"] }),
  );
  const environment =
    "declare const process: { env: { PETSTORE_URL?: string; PETSTORE_KEY?: string; WEBHOOK_SECRET?: string } };\n";
  await Bun.write(join(project.folder, "environment.d.ts"), environment);
  await Bun.write(join(project.folder, "wrong.ts"), wrong);
  run([bin("tsc"), "-p", "."], project.folder);
});

/** What must not compile, where a line that does is an error of its own; and what must. */
const wrong = `import { ApiError, ConnectionError, NotFoundError, Petstore, PetstoreError } from "petstore-client";
declare const client: Petstore;
declare const error: ApiError;
// @${"ts-expect"}-error: the code is mistyped
export const mistyped = error.code === "insufficent_stock";
// @${"ts-expect"}-error: a name is required
void client.pets.create({ categoryId: 1 });
// @${"ts-expect"}-error: there is no such status
void client.pets.list({ status: ["lost"] });
// @${"ts-expect"}-error: a read has no idempotency key
void client.pets.list({}, { idempotencyKey: "a" });
// @${"ts-expect"}-error: a creation has no ETag to match
void client.pets.create({ name: "Rex", categoryId: 1 }, { ifMatch: '"p1"' });
// @${"ts-expect"}-error: the address is required
void new Petstore({ apiKey: "a" });
// @${"ts-expect"}-error: a page does not change
void client.pets.list().then((page) => page.push());
export function told(error: PetstoreError): unknown {
  if (error instanceof ConnectionError) return error.name;
  if (error instanceof NotFoundError) return error.code;
  return error instanceof ApiError ? error.status : error.message;
}
void client.pets.list({ status: undefined }, { signal: undefined });
void client.pets.create({ name: "Rex", categoryId: 1n });
`;
