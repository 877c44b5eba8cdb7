import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Config } from "../config.ts";
import { operator } from "../core/clients.ts";
import { KEY_BYTES } from "../core/key-format.ts";
import { perform } from "../core/perform.ts";
import { rulesOf } from "../core/rules.ts";
import { isPostgres } from "../store/open.ts";
import { Refused } from "./say.ts";
import { holdDatabase, openDatabase } from "./settings.ts";

/**
 * What must be there before the server listens: the tables, and the demo catalogue if it is wanted. Gives what keeps other
 * servers off the database, for as long as the server runs.
 */
export async function prepare(config: Config, isDemo: boolean): Promise<Disposable> {
  const now = Date.now();
  const { transact, close } = await openDatabase(config, now);
  try {
    const held = await holdDatabase(config);
    await transact(async (store) => {
      const { id } = await operator(store, now);
      if (!isDemo || !(await store.isEmpty())) return;
      const { loadDemo } = await import("../core/demo.ts");
      await loadDemo(store, id, rulesOf(config), now);
    });
    return held;
  } finally {
    await close();
  }
}

/**
 * Where the first admin key can be had; it is made if there is no key yet, once the server listens, and kept only if it
 * could be handed over.
 */
export async function firstKey(config: Config): Promise<KeyPlace> {
  const now = Date.now();
  const { transact, close } = await openDatabase(config, now);
  try {
    return await transact(async (store) => {
      if ((await store.keys(null)).length > 0) return keyPlace(config, undefined);
      const { id: clientId } = await operator(store, now);
      const random = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
      const caller = { clientId, keyId: 0, role: "admin" } as const;
      const input = { clientId, body: { role: "admin", name: "first admin key" } };
      const command = { operation: "admin.keys.create", caller, input, now, random };
      return keyPlace(config, ((await perform(store, command, rulesOf(config))).body as { key: string }).key);
    });
  } finally {
    await close();
  }
}

/** Where the first admin key is put when the database is no file beside it. */
const KEY_FOLDER = "./data";

export interface KeyPlace {
  readonly line: string;
  /** How a shell gets at it. */
  readonly shell: string;
}

/** Where the first admin key can be had: on the terminal this once, or in a file that only the owner reads. */
function keyPlace(config: Config, key: string | undefined): KeyPlace {
  const file = join(isPostgres(config.databaseUrl) ? KEY_FOLDER : dirname(config.databaseUrl), "admin.key");
  const shown = relative(process.cwd(), file);
  if (key !== undefined && process.stderr.isTTY) return { line: `${key}  (shown this once)`, shell: key };
  if (key !== undefined) writeSecret(file, `${key}\n`);
  if (existsSync(file) && readFileSync(file, "utf8").startsWith("ps_live_")) {
    return { line: `in ${shown}`, shell: `$(cat ${quoted(shown)})` };
  }
  return {
    line: "shown at the first start; for a new one: ./petstore keys create --role admin",
    shell: "<API_KEY>",
  };
}

/** A new file, because the mode of an old one would stay as it was. */
function writeSecret(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new Refused(
      `Cannot write the first admin key to ${file} (${(error as Error).message}). Move what is there away and start again.`,
    );
  }
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
