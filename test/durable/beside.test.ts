import { Database } from "bun:sqlite";
import { beforeAll, expect, test } from "bun:test";
import { adminKey, aFolder, petstore, serving } from "../cli/command.ts";
import { needed } from "../tools.ts";

beforeAll(() => needed("sqlite3"), 120_000);

/** Another program that opens the database, copies it, and closes it as the last one would. */
function backup(database: string, copy: string): void {
  const { exitCode, stderr } = Bun.spawnSync(["sqlite3", database, `vacuum into '${copy}'`]);
  if (exitCode !== 0) throw new Error(stderr.toString());
}

test("a backup by another program while the server runs takes nothing from it: what is answered later survives a kill", async () => {
  using folder = aFolder();
  const first = await serving({ database: folder.database, args: ["--demo"] });
  const key = adminKey(folder);
  const place = async () => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const response = await fetch(`${first.url}/store/orders`, {
      method: "POST",
      headers,
      body: '{"petId":9}',
    });
    expect(response.status).toBe(201);
    return ((await response.json()) as { id: number }).id;
  };
  const ids = [await place()];
  backup(folder.database, `${folder.database}.copy`);
  await petstore(["keys", "list"], { env: { DATABASE_URL: folder.database } });
  await petstore(["doctor"], { env: { DATABASE_URL: folder.database } });
  for (let n = 0; n < 3; n++) ids.push(await place());
  await first.end("SIGKILL");
  await using _second = await serving({ database: folder.database });
  using database = new Database(folder.database, { readonly: true });
  expect(database.query("select id from orders order by id").values().flat()).toEqual(ids);
  using copy = new Database(`${folder.database}.copy`, { readonly: true });
  expect(copy.query("select id from orders").values().flat()).toEqual(ids.slice(0, 1));
});
