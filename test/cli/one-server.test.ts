import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { holdStore, isBeingFilled } from "../../src/store/open.ts";
import { root } from "../sources.ts";
import { aFolder, eventually, petstore, serving } from "./command.ts";

test("a second server on one file is refused in a sentence that names the file, and changes nothing", async () => {
  using folder = aFolder();
  await using first = await serving({ database: folder.database });
  symlinkSync(folder.database, folder.file("same.db"));
  for (const database of [folder.database, "data/petstore.db", folder.file("same.db")]) {
    const env = { DATABASE_URL: database, PORT: "0" };
    const { code, stdout, stderr } = await petstore(["serve", "--demo"], { env, in: folder.path });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^petstore: A server runs on \S+ already\. [^\n]+ DATABASE_URL[^\n]+\n$/);
    expect(stderr).toContain(database);
  }
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  using database = new Database(folder.database, { readonly: true });
  expect(database.query("select count(*) from pets").values()).toEqual([[0]]);
});

test("commands work beside a server", async () => {
  using folder = aFolder();
  await using _server = await serving({ database: folder.database });
  for (const command of [
    "migrate",
    "demo",
    "keys list",
    "keys create",
    "export store.ndjson",
    "backup store.db",
    "doctor",
  ]) {
    const asked = { env: { DATABASE_URL: folder.database }, in: folder.path };
    expect({ command, ...(await petstore(command.split(" "), asked)) }).toMatchObject({ command, code: 0 });
  }
});

test("a server that has stopped or was killed hinders no other", async () => {
  using folder = aFolder();
  for (const signal of ["SIGTERM", "SIGKILL", "SIGKILL", "SIGTERM"] as const) {
    await using server = await serving({ database: folder.database });
    await server.end(signal);
  }
});

test("of several first starts at once one serves, and makes the one admin key", async () => {
  for (let round = 0; round < 3; round++) {
    using folder = aFolder();
    const starts = await Promise.allSettled(
      Array.from({ length: 6 }, () => serving({ database: folder.database })),
    );
    const servers = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
    const refusals = starts.flatMap((start) => (start.status === "rejected" ? [String(start.reason)] : []));
    await Promise.all(servers.map((server) => server.end("SIGTERM")));
    expect(servers).toHaveLength(1);
    for (const refusal of refusals) expect(refusal).toContain("A server runs on");
    using database = new Database(folder.database, { readonly: true });
    expect(database.query("select count(*) from api_keys").values()).toEqual([[1]]);
    expect(database.query("select count(*) from clients").values()).toEqual([[1]]);
  }
}, 60_000);

test("who waits for a lock that is taken away, as an import does at its end, holds the one that others ask for", async () => {
  using folder = aFolder();
  await petstore(["migrate"], { env: { DATABASE_URL: folder.database } });
  const before = await holdStore(folder.database);
  const waits = `
    const [database, open] = process.argv.reverse();
    const { holdStore } = await import(open);
    while (!(globalThis.held = await holdStore(database)));
    console.log("held");
    await Bun.stdin.text();`;
  const open = join(root, "src/store/open.ts");
  const child = Bun.spawn([process.execPath, "-e", waits, open, folder.database], { stdin: "pipe" });
  const lock = `${folder.database}-lock`;
  expect(await eventually(() => hasOpen(child.pid, lock), 10_000)).toBe(true);
  rmSync(lock);
  before?.[Symbol.dispose]();
  await child.stdout.getReader().read();
  expect(await holdStore(folder.database)).toBeNull();
  child.stdin.end();
  expect(await child.exited).toBe(0);
});

test("a server that starts while somebody asks for an import is taken for none", async () => {
  using folder = aFolder();
  await petstore(["migrate"], { env: { DATABASE_URL: folder.database } });
  const startsAfterAnother = `
    const [database, place] = process.argv.reverse();
    const { holdFile } = await import(place);
    const other = holdFile(database, "fill");
    console.log("held");
    await Bun.sleep(100);
    other[Symbol.dispose]();
    while (!(globalThis.held = holdFile(database)));
    console.log("serves");
    await Bun.stdin.text();`;
  const place = join(root, "src/store/sqlite/place.ts");
  const command = [process.execPath, "-e", startsAfterAnother, place, folder.database];
  const child = Bun.spawn(command, { stdin: "pipe" });
  const said = child.stdout.getReader();
  await said.read();
  expect(await isBeingFilled(folder.database)).toBe(false);
  // Who only asked may have been there for a moment before it.
  await said.read();
  expect(await holdStore(folder.database)).toBeNull();
  child.stdin.end();
  expect(await child.exited).toBe(0);
});

function hasOpen(pid: number, path: string): boolean {
  const files = `/proc/${pid}/fd`;
  return readdirSync(files).some((fd) => {
    try {
      return readlinkSync(`${files}/${fd}`) === path;
    } catch {
      return false;
    }
  });
}
