import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Config } from "../config.ts";
import { operator } from "../core/clients.ts";
import { hashOf, KEY_BYTES } from "../core/key-format.ts";
import { perform } from "../core/perform.ts";
import type { Reads } from "../core/ports.ts";
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
 * could be handed over: on the terminal this once, or in a file that only the owner reads.
 */
export async function firstKey(config: Config): Promise<KeyPlace> {
  const now = Date.now();
  const file = keyFile(config);
  const random = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  let isWritten = false;
  const { transact, close } = await openDatabase(config, now);
  try {
    return await transact(async (store) => {
      if ((await store.keys(null)).length > 0) {
        return (await holdsLiveKey(file, store, now)) ? inFile(file) : nowhere;
      }
      const { id: clientId } = await operator(store, now);
      const caller = { clientId, keyId: 0, role: "admin" } as const;
      const input = { clientId, body: { role: "admin", name: "first admin key" } };
      const command = { operation: "admin.keys.create", caller, input, now, random };
      const { key } = (await perform(store, command, rulesOf(config))).body as { key: string };
      if (process.stderr.isTTY) return { line: `${key}  (shown this once)`, shell: key };
      // A transaction that is run again has written the same key.
      if (!isWritten) writeSecret(file, `${key}\n`);
      isWritten = true;
      return inFile(file);
    });
  } catch (error) {
    if (isWritten) rmSync(file, { force: true });
    throw error;
  } finally {
    await close();
  }
}

export interface KeyPlace {
  readonly line: string;
  /** How a shell gets at it. */
  readonly shell: string;
}

const nowhere: KeyPlace = {
  line: "made at the first start; for a new one: ./petstore keys create --role admin",
  shell: "<API_KEY>",
};

function inFile(file: string): KeyPlace {
  return { line: `in ${file}`, shell: `$(cat ${quoted(file)})` };
}

/** Where the first admin key is put when the database is no file beside it. */
const KEY_FOLDER = "./data";

function keyFile({ databaseUrl }: Config): string {
  const folder = isPostgres(databaseUrl) ? KEY_FOLDER : dirname(databaseUrl);
  return relative(process.cwd(), join(folder, "admin.key"));
}

/** The file may be another store's, or its key may be revoked by now. */
async function holdsLiveKey(file: string, store: Pick<Reads, "keyByHash">, now: number): Promise<boolean> {
  const key = await store.keyByHash(hashOf(textOf(file).trim()));
  return key !== null && key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Only ever a new file: what is there may be the key of another store, and others may be able to read it. */
function writeSecret(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const reason = code === "EEXIST" ? "it is there already, perhaps with the key of another store" : message;
    throw new Refused(
      `Cannot write the first admin key to ${file} (${reason}). Move what is there away and start again.`,
    );
  }
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
