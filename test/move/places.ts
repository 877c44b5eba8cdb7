// Stores of either engine to move from and to, and files to move with.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Diagnosis } from "../../src/store/doctor.ts";
import { exportStore } from "../../src/store/move/export.ts";
import type { Counts, Origin } from "../../src/store/move/format.ts";
import { importStore } from "../../src/store/move/import.ts";
import { inspectStore, openStore } from "../../src/store/open.ts";
import { sharedPostgres } from "../servers/postgres.ts";

export const NOW = Date.parse("2026-11-15T12:00:00Z");
export const ORIGIN: Origin = { exportedAt: "2026-11-15T12:00:00.000Z", petstore: "1.0.0" };

export type EngineName = "sqlite" | "postgres";
export const engines: readonly EngineName[] = ["sqlite", "postgres"];

export interface Place extends AsyncDisposable {
  readonly url: string;
  /** A folder for what goes with it. */
  readonly folder: string;
}

/** A new store with nothing in it. */
export async function aPlace(engine: EngineName): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-move-"));
  if (engine === "postgres") return inPostgres(folder, await (await sharedPostgres()).newStore());
  const url = join(folder, "data/petstore.db");
  await (await openStore(url, NOW)).close();
  return { url, folder, [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }) };
}

/** The same in a database whose own order of text is that of English. */
export async function anEnglishPlace(): Promise<Place> {
  const server = await sharedPostgres();
  const name = `test_english_${crypto.randomUUID().replaceAll("-", "")}`;
  await server.query(`create database ${name} template template0 locale_provider icu icu_locale 'en-US'`);
  await (await openStore(server.url(name), NOW)).close();
  return inPostgres(mkdtempSync(join(tmpdir(), "petstore-move-")), server.url(name));
}

function inPostgres(folder: string, url: string): Place {
  return {
    url,
    folder,
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
      await (await sharedPostgres()).dropDatabase(new URL(url).pathname.slice(1));
    },
  };
}

export async function exported(url: string): Promise<string> {
  const store = await inspectStore(url);
  let text = "";
  try {
    await store.snapshot((snapshot) =>
      exportStore(snapshot, ORIGIN, (lines) => {
        text += lines;
      }),
    );
    return text;
  } finally {
    await store.close();
  }
}

/** All that a store exports but the numbers after which it goes on, which are others after a restore: only to compare with a restored store. */
export async function records(database: string): Promise<string> {
  return recordsOf(await exported(database));
}

/** The same of an export. */
export function recordsOf(text: string): string {
  const lines = text.trimEnd().split("\n");
  return lines
    .slice(0, -1)
    .map((line) => (line.startsWith('{"table":') ? line.replace(/"lastId":\d+/, "") : line))
    .join("\n");
}

export async function imported(url: string, file: string | Uint8Array): Promise<Counts> {
  const store = await openStore(url, NOW);
  try {
    return await store.fill((filling) => importStore(filling, inPieces(file)));
  } finally {
    await store.close();
  }
}

/** What an import refuses a file with; it must leave the store as it was. */
export async function refusal(url: string, file: string | Uint8Array): Promise<string> {
  const before = await exported(url);
  const message = await imported(url, file).then(
    () => "it was taken",
    (error: Error) => error.message,
  );
  if ((await exported(url)) !== before) throw new Error(`Refused, but the store was changed: ${message}`);
  return message;
}

export async function diagnosed(url: string): Promise<Diagnosis> {
  const store = await inspectStore(url);
  try {
    return await store.diagnose();
  } finally {
    await store.close();
  }
}

/** As a pipe gives it: cut anywhere, in the middle of a character too. */
async function* inPieces(file: string | Uint8Array): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(file as string);
  for (let start = 0; start < bytes.length; start += 997) yield bytes.subarray(start, start + 997);
}
