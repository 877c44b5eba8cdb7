// Backups beside a server that sells, and backups and restores that are killed at any of their steps.
import { beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OpenedStore } from "../../src/store/engine.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { adminKey, aFolder, type Folder, PETSTORE, petstore, run, serving } from "../cli/command.ts";
import { diagnosed, exported, records, recordsOf } from "../move/places.ts";
import { needed } from "../tools.ts";

const BUYERS = 8;
const TIME_LIMIT_MS = 60_000;

beforeAll(() => needed("strace"), 120_000);

test(
  "backups beside a server that sells have every order that was answered before them, and hold up none",
  async () => {
    using folder = aFolder();
    const env = { LOG_LEVEL: "silent" };
    await using server = await serving({ database: folder.database, args: ["--demo"], env });
    const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
    const stock = { method: "PUT", headers, body: JSON.stringify({ quantity: 1_000_000 }) };
    expect((await fetch(`${server.url}/store/inventory/1`, stock)).status).toBe(200);
    const answered: number[] = [];
    let isOver = false;
    const buying = Array.from({ length: BUYERS }, async (_, buyer) => {
      while (!isOver) {
        const body = JSON.stringify({ petId: 1, quantity: 1 + (buyer % 3), complete: buyer % 2 === 0 });
        const response = await fetch(`${server.url}/store/orders`, { method: "POST", headers, body });
        if (response.status !== 201) throw new Error(`an order was answered ${response.status}`);
        answered.push(((await response.json()) as { id: number }).id);
      }
    });
    while (answered.length < BUYERS) await Bun.sleep(5);
    const backups: { file: string; before: number[] }[] = [];
    try {
      for (const name of ["one.db", "two.db", "three.db"]) {
        const file = folder.file(name);
        const before = [...answered];
        const asked = { env: { DATABASE_URL: folder.database } };
        expect(await petstore(["backup", file], asked)).toMatchObject({ code: 0, stderr: "" });
        expect(answered.length).toBeGreaterThan(before.length);
        backups.push({ file, before });
      }
    } finally {
      isOver = true;
      await Promise.all(buying);
    }
    for (const { file, before } of backups) {
      using elsewhere = aFolder();
      const asked = { env: { DATABASE_URL: elsewhere.database } };
      expect((await petstore(["restore", file], asked)).code).toBe(0);
      expect((await diagnosed(elsewhere.database)).findings).toEqual([]);
      const store = openStore(elsewhere.database, 1);
      const kept = new Set(store.db.rows("select id from orders").map(({ id }) => Number(id)));
      store.close();
      expect(before.filter((id) => !kept.has(id))).toEqual([]);
      expect(before.length).toBeGreaterThan(0);
    }
    expect(await server.end("SIGTERM")).toBe(0);
  },
  TIME_LIMIT_MS,
);

/** A step of the command: one of these system calls, the so manieth of one of its threads. */
type Step = readonly [calls: string, time: number];
const WRITES = "pwrite64";
const SYNCS = "fsync";
const LINKS = "?link,?linkat";
const RENAMES = "?rename,?renameat,?renameat2";
const REMOVALS = "?unlink,?unlinkat";

/** Runs the command until that step, which is not done any more; whether it came so far. */
async function isKilledAt([calls, time]: Step, words: readonly string[], { database, path }: Folder) {
  const kill = ["-e", `trace=${calls}`, "-e", `inject=${calls}:error=EIO:signal=KILL:when=${time}`];
  const traced = ["strace", "-f", "-qq", "-o", "/dev/null", ...kill, PETSTORE, ...words];
  const env = { DATABASE_URL: database, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" };
  const { code } = await run(traced, { env, in: path });
  return code !== 0;
}

/** A store whose last commit is in its log only, as a kill leaves it, and a backup of what it was before; what each exports. */
async function aShop(): Promise<Folder & { readonly old: string; readonly backup: string }> {
  const folder = aFolder();
  const source = aFolder();
  expect((await petstore(["demo"], { env: { DATABASE_URL: source.database } })).code).toBe(0);
  const asked = { env: { DATABASE_URL: source.database } };
  expect((await petstore(["backup", folder.file("backup.db")], asked)).code).toBe(0);
  const add = (store: OpenedStore, name: string) =>
    store.transact(async (writes) => void (await writes.addCategory({ name, description: null }, 1)));
  // Without its log the store is neither what it is nor what the backup has.
  const first = openStore(source.database, 1);
  await add(first, "Lizards");
  first.close();
  const store = openStore(source.database, 1);
  await add(store, "Toads");
  cpSync(source.path, folder.path, { recursive: true });
  store.close();
  const old = await exported(source.database);
  source[Symbol.dispose]();
  return { ...folder, old, backup: await exported(folder.file("backup.db")) };
}

test(
  "a restore that is killed at any step leaves the old store or the new one, whole, and can be done again",
  async () => {
    using shop = await aShop();
    const [old, backup] = [recordsOf(shop.old), recordsOf(shop.backup)];
    const steps: Step[] = [
      [WRITES, 1],
      [WRITES, 30],
      ...Array.from({ length: 15 }, (_, time): Step => [SYNCS, time + 1]),
      ...Array.from({ length: 9 }, (_, time): Step => [REMOVALS, time + 1]),
      [LINKS, 1],
      [RENAMES, 1],
      [RENAMES, 2],
    ];
    const outcomes = await Promise.all(
      steps.map(async (step) => {
        using folder = aFolder();
        cpSync(shop.path, folder.path, { recursive: true });
        const words = ["restore", "backup.db", "--force"];
        const isKilled = await isKilledAt(step, words, folder);
        // As the next start does, which may have something half written to undo.
        openStore(folder.database, 1).close();
        const found = await records(folder.database);
        expect([step, found === old || found === backup]).toEqual([step, true]);
        expect((await diagnosed(folder.database)).findings).toEqual([]);
        const again = await petstore(words, { env: { DATABASE_URL: folder.database }, in: folder.path });
        expect(again).toMatchObject({ code: 0, stderr: "" });
        expect(await records(folder.database)).toBe(backup);
        const names = readdirSync(dirname(folder.database));
        expect(names.filter((name) => name.includes(".restoring"))).toEqual([]);
        const asides = names.filter((name) => /before-restore-\w+$/.test(name));
        const kept = await Promise.all(asides.map((name) => records(join(dirname(folder.database), name))));
        expect(kept).toContain(found === old ? old : backup);
        return { step, isKilled, isNew: found === backup };
      }),
    );
    // The kills fell into the work, before the new store had its name and after.
    expect(outcomes.filter(({ isKilled }) => isKilled).length).toBeGreaterThan(steps.length / 2);
    const killed = outcomes.filter(({ isKilled }) => isKilled);
    expect(new Set(killed.map(({ isNew }) => isNew))).toEqual(new Set([true, false]));
    for (const calls of [LINKS, RENAMES]) expect(killed.map(({ step }) => step[0])).toContain(calls);
  },
  TIME_LIMIT_MS,
);

test(
  "a backup that is killed at any step leaves nothing by its name, or what was there, and the next one cleans up",
  async () => {
    using shop = await aShop();
    const steps: Step[] = [
      [WRITES, 1],
      [WRITES, 30],
      [SYNCS, 1],
      [SYNCS, 2],
      [SYNCS, 3],
      [REMOVALS, 1],
      [RENAMES, 1],
    ];
    const outcomes = await Promise.all(
      steps.flatMap((step) =>
        ["new.db", "backup.db"].map(async (name) => {
          using folder = aFolder();
          cpSync(shop.path, folder.path, { recursive: true });
          const words = ["backup", name, "--force"];
          const isKilled = await isKilledAt(step, words, folder);
          const file = folder.file(name);
          const found = existsSync(file) ? await exported(file) : undefined;
          const before = name === "backup.db" ? shop.backup : undefined;
          expect([step, name, found === before || found === shop.old]).toEqual([step, name, true]);
          expect(await exported(folder.database)).toBe(shop.old);
          const again = await petstore(words, { env: { DATABASE_URL: folder.database }, in: folder.path });
          expect(again).toMatchObject({ code: 0, stderr: "" });
          expect(await exported(file)).toBe(shop.old);
          expect(readdirSync(folder.path).filter((each) => each.includes(".partial"))).toEqual([]);
          return isKilled;
        }),
      ),
    );
    expect(outcomes.filter(Boolean).length).toBeGreaterThan(outcomes.length / 2);
  },
  TIME_LIMIT_MS,
);

test("what was left of an older backup by another name goes with the next, and what may be under way stays", async () => {
  using shop = await aShop();
  const left = (name: string, pid: number, hours: number) => {
    const file = `${name}.partial-${pid}-0123abcd`;
    writeFileSync(shop.file(file), "half a store");
    const at = (Date.now() - hours * 3_600_000) / 1000;
    utimesSync(shop.file(file), at, at);
    return file;
  };
  const nobody = 999_999_999;
  left("yesterday.db", nobody, 13);
  left("yesterday.db", process.pid, 13);
  left("new.db", nobody, 0);
  const mayBe = [left("elsewhere.db", nobody, 1), left("new.db", process.pid, 1)];
  const { code, stderr } = await petstore(["backup", "new.db"], {
    env: { DATABASE_URL: shop.database },
    in: shop.path,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(readdirSync(shop.path).sort()).toEqual(["backup.db", "data", "new.db", ...mayBe].sort());
});

test("a backup that is told to stop takes away what is half done", async () => {
  using shop = await aShop();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    // Each sync of the copy takes so long that the signal comes in the middle.
    const slow = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync"];
    const delay = ["-e", "inject=fsync:delay_enter=300000"];
    const child = Bun.spawn([...slow, ...delay, "-I", "never", PETSTORE, "backup", "new.db"], {
      cwd: shop.path,
      env: { PATH: process.env.PATH ?? "", DATABASE_URL: shop.database },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const partial = () => readdirSync(shop.path).find((name) => /\.partial-\d+-\w+$/.test(name));
    while (!partial() && child.exitCode === null) await Bun.sleep(5);
    const pid = Number(/partial-(\d+)/.exec(String(partial()))?.[1]);
    process.kill(pid, signal);
    expect(await child.exited).toBeGreaterThan(128);
    expect(readdirSync(shop.path).sort()).toEqual(["backup.db", "data"]);
  }
});
