import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { aFolder, type Folder, petstore, serving } from "./command.ts";

const asked = (folder: Folder) => ({ env: { DATABASE_URL: folder.database } });

function everything({ database }: Folder): unknown {
  using db = new Database(database, { readonly: true });
  return ["categories", "pets", "orders", "movements", "events", "clients", "api_keys"].map((table) =>
    db.query(`select * from ${table} order by 1`).all(),
  );
}

test("the demo catalogue is loaded once; a second time is refused and changes nothing", async () => {
  using folder = aFolder();
  const first = await petstore(["demo", "--json"], asked(folder));
  expect(first.code).toBe(0);
  const loaded = JSON.parse(first.stdout);
  expect(loaded.categories).toBePositive();
  expect(loaded.pets).toBePositive();
  const before = everything(folder);
  const second = await petstore(["demo", "--json"], asked(folder));
  expect({ code: second.code, stdout: second.stdout }).toEqual({ code: 1, stdout: "" });
  expect(second.stderr).toBe("petstore: The store already has a catalogue; nothing was changed.\n");
  expect(everything(folder)).toEqual(before);
  const doctor = await petstore(["doctor", "--json"], asked(folder));
  expect(doctor.code).toBe(0);
  expect(JSON.parse(doctor.stdout)).toMatchObject({ counts: loaded, findings: [] });
});

test("the doctor ends with 0 on a healthy store and with 3 on a damaged one, beside a running server too", async () => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database, args: ["--demo"] });
  const healthy = await petstore(["doctor"], asked(folder));
  expect(healthy).toMatchObject({ code: 0, stderr: "" });
  expect(healthy.stdout).toContain("Nothing is wrong.");
  expect(healthy.stdout).toMatch(/^ok {5}ledger equals stock$/m);
  {
    using database = new Database(folder.database);
    database.run("pragma ignore_check_constraints = on");
    database.run("update pets set quantity = quantity + 1 where id = 1");
  }
  const damaged = await petstore(["doctor"], asked(folder));
  expect(damaged).toMatchObject({ code: 3, stderr: "" });
  expect(damaged.stdout).toMatch(/^WRONG {2}ledger equals stock: pet 1 has \d+ in stock, but /m);
  expect(damaged.stdout).not.toContain("Nothing is wrong.");
  const forMachines = await petstore(["doctor", "--json"], asked(folder));
  expect(forMachines.code).toBe(3);
  expect(JSON.parse(forMachines.stdout).findings).toMatchObject([{ check: "ledger equals stock" }]);
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
});

test("the doctor does not call a store healthy that is not there", async () => {
  using folder = aFolder();
  const { code, stdout } = await petstore(["doctor"], asked(folder));
  expect(code).not.toBe(0);
  expect(stdout).not.toContain("Nothing is wrong.");
  expect(existsSync(folder.database)).toBe(false);
});

test("migrate says what it applied, and the second time that nothing is to do", async () => {
  using folder = aFolder();
  const first = await petstore(["migrate"], asked(folder));
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toMatch(/^applied: /);
  expect((await petstore(["migrate"], asked(folder))).stdout).toBe("The database is up to date.\n");
  expect(JSON.parse((await petstore(["migrate", "--json"], asked(folder))).stdout)).toEqual({ applied: [] });
});

test("the document is JSON, or YAML of the same", async () => {
  const json = JSON.parse((await petstore(["openapi"])).stdout);
  const yaml = Bun.YAML.parse((await petstore(["openapi", "--yaml"])).stdout);
  expect(yaml).toEqual(json);
  expect(json.openapi).toBeString();
});

test("lists for people are tables, and an empty one says what to do", async () => {
  using folder = aFolder();
  await petstore(["migrate"], asked(folder));
  const none = await petstore(["clients", "list"], asked(folder));
  expect(none.stdout).toBe("There are no clients yet: petstore clients create --name NAME\n");
  expect((await petstore(["keys", "list"], asked(folder))).stdout).toBe(
    "There are no keys yet: petstore keys create\n",
  );
  await petstore(["clients", "create", "--name", "Shop"], asked(folder));
  const some = await petstore(["clients", "list"], asked(folder));
  expect(some.stdout.split("\n")[0]).toMatch(/^id +name +plan +perMinute +perDay/);
  expect(some.stdout.split("\n")[1]).toMatch(/^1 +operator +enterprise +\d+ +\d+/);
  expect(some.stdout.split("\n")[2]).toMatch(/^2 +Shop +free +60 +1000/);
});
