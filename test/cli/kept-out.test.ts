// A database that this user may not write is refused at the start, with what to do; not at the first write.
import { expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { aFolder, type Folder, PETSTORE, petstore, run, serving } from "./command.ts";

const isRoot = process.getuid?.() === 0;
const ANOTHER = 65_534;
/** Root without its right to write everywhere. */
const MORTAL = isRoot ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
const WRITING = ["serve", "migrate", "demo", "keys revoke 1"];

const on = ({ database }: Folder, command: string, under: readonly string[] = MORTAL) =>
  run([...under, PETSTORE, ...command.split(" ")], { env: { DATABASE_URL: database, PORT: "0" } });

/** Each of the commands ends with the same line and no more. */
async function allSay(folder: Folder, commands: readonly string[], line: string, under?: readonly string[]) {
  for (const command of commands)
    expect({ command, ...(await on(folder, command, under)) }).toEqual({
      command,
      code: 1,
      stdout: "",
      stderr: `petstore: The database cannot be written: ${line}\n`,
    });
}

async function aStore(): Promise<Folder> {
  const folder = aFolder();
  const env = { DATABASE_URL: folder.database };
  expect((await petstore(["demo"], { env })).code).toBe(0);
  expect((await petstore(["keys", "create", "--role", "admin"], { env })).code).toBe(0);
  return folder;
}

test("a file or a folder that is read-only is refused by all that write, and can be looked at", async () => {
  using folder = await aStore();
  for (const place of [folder.database, dirname(folder.database)]) {
    const { mode } = statSync(place);
    chmodSync(place, 0o555);
    await allSay(folder, WRITING, `${place} is this user's, but read-only. Mend it: chmod u+rwX ${place}`);
    for (const command of ["doctor", "keys list"])
      expect([command, (await on(folder, command)).code]).toEqual([command, 0]);
    chmodSync(place, mode);
  }
});

test.if(isRoot)("a file system that is mounted read-only is refused by all that write", async () => {
  using folder = await aStore();
  const data = dirname(folder.database);
  const mounted = `mount --bind ${data} ${data} && mount -o remount,ro,bind ${data} ${data} && exec "$@"`;
  const under = ["unshare", "--mount", "sh", "-c", mounted, "sh"];
  // Not every root may mount.
  if ((await run([...under, "true"])).code !== 0) return;
  const line = `${folder.database} is on a file system that is mounted read-only. Mount it for writing, or name another database with DATABASE_URL.`;
  await allSay(folder, WRITING, line, under);
});

test.if(isRoot)("a store of another user is told with its owner, though it be hidden", async () => {
  using folder = await aStore();
  const data = dirname(folder.database);
  chownSync(data, ANOTHER, ANOTHER);
  const line = `${data} belongs to user ${ANOTHER}, and this is root. Run this as user ${ANOTHER}, or give it to this user: chown 0 ${data} ${folder.database}*`;
  await allSay(folder, [...WRITING, "doctor", "keys list"], line);
});

test.if(isRoot)(
  "what root makes in a folder of another user is that user's: folders, and the counts of a server",
  async () => {
    using folder = aFolder();
    const home = folder.file("home");
    mkdirSync(home);
    chownSync(home, ANOTHER, ANOTHER);
    const database = join(home, "shop/data/petstore.db");
    const server = await serving({ database });
    const made = readdirSync(home, { recursive: true }).map(String);
    expect(made).toContain("shop/data/petstore.db-counts");
    for (const name of made.filter((each) => !/admin\.key|console\.link/.test(each)))
      expect([name, statSync(join(home, name)).uid]).toEqual([name, ANOTHER]);
    await server.end("SIGTERM");
  },
);

test("a folder where one of the store's files belongs is named, and nothing is made beside it", async () => {
  for (const part of ["", "-wal", "-shm", "-lock", "-counts"]) {
    using folder = aFolder();
    const place = folder.database + part;
    mkdirSync(place, { recursive: true });
    const stderr = `petstore: ${place} is a folder, and the database needs a file there. Name another file with DATABASE_URL, or remove the folder if nothing is in it.\n`;
    const needed = part === "" ? [...WRITING, "doctor", "keys list"] : ["serve", "migrate", "demo"];
    for (const command of needed)
      expect({ command, ...(await on(folder, command, [])) }).toEqual({
        command,
        code: 1,
        stdout: "",
        stderr,
      });
    expect(readdirSync(dirname(place))).toEqual([basename(place)]);
  }
});
