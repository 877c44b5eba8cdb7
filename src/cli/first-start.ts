import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Config } from "../config.ts";
import { operator } from "../core/clients.ts";
import { hashOf, KEY_BYTES } from "../core/key-format.ts";
import { isWorking } from "../core/key-refusal.ts";
import { perform } from "../core/perform.ts";
import type { Reads } from "../core/ports.ts";
import { rulesOf } from "../core/rules.ts";
import { isPostgres } from "../store/open.ts";
import { Refused } from "./say.ts";
import { holdDatabase, openDatabase, quoted, sameStore } from "./settings.ts";

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
export async function firstKey(config: Config, url: string): Promise<KeyPlace> {
  const now = Date.now();
  const rules = rulesOf(config);
  const file = fileBeside(config, "admin.key");
  const linkFile = fileBeside(config, "console.link");
  const random = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const secret = Buffer.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES))).toString("base64url");
  const link = config.console ? `${url}/console#link=${secret}` : undefined;
  let isWritten = false;
  const { transact, close } = await openDatabase(config, now);
  try {
    return await transact(async (store) => {
      if (await store.hasKeys()) {
        return (await holdsWorkingKey(file, store, now)) ? inFile(file) : nowhere(config);
      }
      const { id: clientId } = await operator(store, now);
      const caller = { clientId, keyId: 0, role: "admin" } as const;
      const input = { clientId, body: { role: "admin", name: "first admin key" } };
      const command = { operation: "admin.keys.create", caller, input, now, random };
      const { key, id } = (await perform(store, command, rules)).body as { key: string; id: number };
      const offer = { operation: "sessions.offer", caller, input: { keyId: id, hash: hashOf(secret) }, now };
      if (link !== undefined) await perform(store, offer, rules);
      if (process.stderr.isTTY) return { line: `${key}  (shown this once)`, shell: key, link };
      // A transaction that is run again has written the same secrets.
      if (!isWritten) {
        writeSecret(file, "the first admin key", key);
        isWritten = true;
        // An old one is of no use any more.
        rmSync(linkFile, { force: true });
        if (link !== undefined) writeSecret(linkFile, "the link to sign in by", link);
      }
      return { ...inFile(file), link: link && `in ${linkFile}` };
    });
  } catch (error) {
    if (isWritten) for (const each of [file, linkFile]) rmSync(each, { force: true });
    throw error;
  } finally {
    await close();
  }
}

export interface KeyPlace {
  readonly line: string;
  /** How a shell gets at it. */
  readonly shell: string;
  /** The link to sign in by, or where it is; only at the first start. */
  readonly link?: string | undefined;
}

function nowhere(config: Config): KeyPlace {
  const again = `./petstore keys create --role admin${sameStore(config)}`;
  return { line: `made at the first start; for a new one: ${again}`, shell: "<API_KEY>" };
}

function inFile(file: string): KeyPlace {
  return { line: `in ${file}`, shell: `$(cat ${quoted(file)})` };
}

/** Where the first secrets are put when the database is no file beside them. */
const KEY_FOLDER = "./data";

function fileBeside({ databaseUrl }: Config, name: string): string {
  const folder = isPostgres(databaseUrl) ? KEY_FOLDER : dirname(databaseUrl);
  return relative(process.cwd(), join(folder, name));
}

/** The file may be another store's, or its key may be revoked by now. */
async function holdsWorkingKey(file: string, store: Pick<Reads, "keyByHash">, now: number): Promise<boolean> {
  const key = await store.keyByHash(hashOf(textOf(file).trim()));
  return key !== null && isWorking(key, now);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Only ever a new file: what is there may be the key of another store, and others may be able to read it. */
function writeSecret(file: string, what: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${text}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const reason = code === "EEXIST" ? "it is there already, perhaps with the key of another store" : message;
    throw new Refused(
      `Cannot write ${what} to ${file} (${reason}). Move what is there away and start again.`,
    );
  }
}
