// A restore or an import is often run by root, on a store that belongs to the server's own user.
import { beforeAll, expect, test } from "bun:test";
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { needed } from "../tools.ts";
import { aFolder, eventually, type Folder, PETSTORE, petstore, run } from "./command.ts";

const isRoot = process.getuid?.() === 0;
/** Whose the store is: another's where that can be made so. */
const OWNER = isRoot ? 65_534 : process.getuid?.();
const SLOW_MS = 60_000;
/** Longer than it takes to put a link in the place of a file. */
const HELD_UP_MICROSECONDS = 2_000_000;

beforeAll(() => needed("strace"), 120_000);

const on = ({ database, path }: Folder, ...words: string[]) =>
  petstore(words, { env: { DATABASE_URL: database }, in: path });

/** A store of the owner's, and a backup of it. */
async function aStoreOfAnother(): Promise<Folder> {
  const folder = aFolder();
  expect((await on(folder, "demo")).code).toBe(0);
  expect((await on(folder, "backup", "backup.db")).code).toBe(0);
  for (const path of [folder.path, dirname(folder.database), folder.database])
    chownSync(path, OWNER as number, OWNER as number);
  return folder;
}

test("a store that is restored belongs to whom it belonged before, and so does the lock beside it", async () => {
  using folder = await aStoreOfAnother();
  expect(await on(folder, "restore", "backup.db", "--force")).toMatchObject({ code: 0, stderr: "" });
  for (const path of [folder.database, `${folder.database}-lock`])
    expect([path, statSync(path).uid]).toEqual([path, OWNER as number]);
});

test("a store that is imported, or made anew, belongs to whom its folder belongs", async () => {
  using source = await aStoreOfAnother();
  const file = source.file("store.ndjson");
  expect((await on(source, "export", file)).code).toBe(0);
  for (const words of [["import", file], ["migrate"], ["demo"]]) {
    using folder = aFolder();
    mkdirSync(dirname(folder.database), { recursive: true });
    chownSync(dirname(folder.database), OWNER as number, OWNER as number);
    expect(await on(folder, ...words)).toMatchObject({ code: 0, stderr: "" });
    for (const name of readdirSync(dirname(folder.database)))
      expect([name, statSync(join(dirname(folder.database), name)).uid]).toEqual([name, OWNER as number]);
  }
});

test(
  "a restore gives nobody a file that the store's owner only puts a link to",
  async () => {
    using folder = await aStoreOfAnother();
    using elsewhere = aFolder();
    const secret = elsewhere.file("secret");
    writeFileSync(secret, "root's own", { mode: 0o600 });
    const [log, fresh] = [elsewhere.file("calls"), `${folder.database}.restoring`];
    const calls = "chown,lchown,fchownat";
    const inject = `inject=${calls}:delay_enter=${HELD_UP_MICROSECONDS}`;
    const restoring = run(
      [
        "strace",
        "-f",
        "-qq",
        "-o",
        log,
        "-e",
        `trace=${calls}`,
        "-e",
        inject,
        PETSTORE,
        "restore",
        "backup.db",
        "--force",
      ],
      { env: { DATABASE_URL: folder.database }, in: folder.path },
    );
    const isAboutToGive = () => existsSync(log) && readFileSync(log, "utf8").includes(fresh);
    if (isRoot) {
      expect(await eventually(isAboutToGive, SLOW_MS / 2)).toBe(true);
      renameSync(fresh, `${fresh}.mine`);
      symlinkSync(secret, fresh);
    }
    await restoring;
    // The link itself was given away, or nothing: who is not root has nothing to give.
    if (isRoot) expect(lstatSync(folder.database).uid).toBe(OWNER as number);
    else expect(isAboutToGive()).toBe(false);
    const { uid, mode } = statSync(secret);
    expect([uid, mode & 0o777, readFileSync(secret, "utf8")]).toEqual([
      process.getuid?.() as number,
      0o600,
      "root's own",
    ]);
  },
  SLOW_MS,
);
