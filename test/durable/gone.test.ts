import { expect, test } from "bun:test";
import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { adminKey, aFolder, eventually, type Folder, type Served, serving } from "../cli/command.ts";

const NOTICED_WITHIN_MS = 3000;

/** A server whose file can be tampered with, and what it says about it. */
function watched(server: Served, folder: Folder) {
  const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
  return {
    isReady: async () => (await fetch(`${server.url}/readyz`)).status === 200,
    write: async (name: string) => {
      const asked = { method: "POST", headers, body: JSON.stringify({ name }) };
      const response = await fetch(`${server.url}/categories`, asked);
      return { status: response.status, ...((await response.json()) as { code?: string; message?: string }) };
    },
    errors: () =>
      server
        .stdout()
        .split("\n")
        .filter((line) => line.includes('"level":"error"') && line.includes("was removed or replaced")),
  };
}

test("a server whose files are removed notices by itself: one error says so, and it is not ready and writes nothing", async () => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database });
  const { isReady, write, errors } = watched(server, folder);
  expect((await write("Dogs")).status).toBe(201);
  rmSync(dirname(folder.database), { recursive: true });
  expect(await eventually(() => errors().length === 1, NOTICED_WITHIN_MS)).toBe(true);
  expect(errors()[0]).toContain(folder.database);
  expect(await isReady()).toBe(false);
  const refused = await write("Cats");
  expect(refused).toMatchObject({ status: 503, code: "unavailable" });
  expect(refused.message).not.toContain(folder.database);
  expect(await server.end("SIGTERM")).toBe(0);
  expect(existsSync(folder.database)).toBe(false);
});

test("another file in the place of the server's own makes it not ready, and its own again ready", async () => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database });
  const { isReady, write } = watched(server, folder);
  renameSync(folder.database, `${folder.database}.away`);
  copyFileSync(`${folder.database}.away`, folder.database);
  expect(await isReady()).toBe(false);
  expect((await write("Dogs")).status).toBe(503);
  renameSync(`${folder.database}.away`, folder.database);
  expect(await isReady()).toBe(true);
  expect((await write("Dogs")).status).toBe(201);
});
