import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { adminKey, aFolder, type Folder, petstore, serving } from "./command.ts";

/** What a start of this database says of the admin key. */
async function banner(folder: Folder, database: string): Promise<string> {
  await using server = await serving({ database, in: folder.path });
  expect(await server.end("SIGTERM")).toBe(0);
  return server.stderr();
}

test("the first start of a second store in a folder leaves the first one's admin key alone, and says what to do", async () => {
  using folder = aFolder();
  const [first, second] = ["data/petstore.db", "data/second.db"] as const;
  await banner(folder, first);
  const key = adminKey(folder);

  const env = { DATABASE_URL: second, PORT: "0" };
  const { code, stderr } = await petstore(["serve"], { env, in: folder.path });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^petstore: Cannot write the first admin key to data\/admin\.key \([^\n]+\)\. Move [^\n]+\n$/,
  );
  expect(adminKey(folder)).toBe(key);
  expect(await banner(folder, first)).toContain("data/admin.key");

  renameSync(folder.file("data/admin.key"), folder.file("data/first.key"));
  expect(await banner(folder, second)).toContain("data/admin.key");
  expect(adminKey(folder)).not.toBe(key);
  expect(await banner(folder, first)).not.toContain("data/admin.key");
});

test("a file in the place of the admin key is left as it is, and no key is made", async () => {
  using folder = aFolder();
  mkdirSync(folder.file("data"));
  const file = folder.file("data/admin.key");
  writeFileSync(file, "an old note\n");
  chmodSync(file, 0o644);
  const { code } = await petstore(["serve"], { env: { DATABASE_URL: folder.database, PORT: "0" } });
  expect(code).toBe(1);
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["an old note\n", 0o644]);
  using database = new Database(folder.database, { readonly: true });
  expect(database.query("select count(*) from api_keys").values()).toEqual([[0]]);
});

test("a start names the admin key's file only while the key in it works", async () => {
  using folder = aFolder();
  const database = "data/petstore.db";
  for (const _ of ["first", "second"]) expect(await banner(folder, database)).toContain("in data/admin.key");
  await petstore(["keys", "revoke", "1"], { env: { DATABASE_URL: folder.database } });
  const after = await banner(folder, database);
  expect(after).not.toContain("data/admin.key");
  expect(after).toContain("keys create --role admin");
});
