import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig, type WrongSettings } from "../../src/config.ts";
import { petstore } from "./command.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "petstore-secrets-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    return (error as WrongSettings).problems;
  }
}

test("an address that holds a password can be in a file, with a line's end or without", () => {
  const config = readConfig({
    DATABASE_URL_FILE: file("database", "postgres://shop:secret@db.example/petstore\n"),
    VALKEY_URL_FILE: file("valkey", "redis://:secret@valkey.example:6379"),
  });
  expect(config.databaseUrl).toBe("postgres://shop:secret@db.example/petstore");
  expect(config.valkeyUrls).toEqual(["redis://:secret@valkey.example:6379"]);
});

test("the other name of a setting has a file too", () => {
  const env = { REDIS_URL_FILE: file("redis", "redis://:secret@redis.example:6379\n") };
  expect(readConfig(env).valkeyUrls).toEqual(["redis://:secret@redis.example:6379"]);
  expect(problemsOf({ ...env, VALKEY_URL: "redis://a" })).toEqual([
    "VALKEY_URL must not be given beside REDIS_URL_FILE",
  ]);
});

test("a variable that is empty is not given: an image's own can be taken back, and a file named instead", () => {
  const database = file("instead", "postgres://shop:secret@db.example/petstore");
  const config = readConfig({
    DATABASE_URL: "",
    DATABASE_URL_FILE: database,
    VALKEY_URL: "",
    REDIS_URL: "redis://redis.example:6379",
    VALKEY_URL_FILE: "",
    PORT: "",
    HOST: "",
  });
  expect(config.databaseUrl).toBe("postgres://shop:secret@db.example/petstore");
  expect(config.valkeyUrls).toEqual(["redis://redis.example:6379"]);
  expect([config.host, config.port]).toEqual(["127.0.0.1", 8080]);
});

test("a file that is not there, or beside the setting itself, is told; and no secret with it", () => {
  const missing = join(folder, "nowhere");
  expect(problemsOf({ DATABASE_URL_FILE: missing })).toEqual([
    expect.stringContaining(`DATABASE_URL cannot be read from DATABASE_URL_FILE: ENOENT`),
  ]);
  expect(problemsOf({ VALKEY_URL_FILE: file("hollow", "\n") })).toEqual([
    "VALKEY_URL must not be empty in VALKEY_URL_FILE",
  ]);
  const both = { VALKEY_URL: "redis://a", VALKEY_URL_FILE: file("both", "redis://:secret@b") };
  expect(problemsOf(both)).toEqual(["VALKEY_URL must not be given beside VALKEY_URL_FILE"]);
  const wrong = problemsOf({ VALKEY_URL_FILE: file("wrong", "secret") });
  expect(wrong).toHaveLength(1);
  expect(wrong.join()).not.toContain("secret");
});

test("other settings have no file", () => {
  expect(readConfig({ PORT_FILE: file("port", "99") }).port).toBe(8080);
});

test("the command opens the database that a file names; a flag wins over it", async () => {
  const named = join(folder, "named.db");
  const env = { DATABASE_URL_FILE: file("path", `${named}\n`) };
  expect((await petstore(["migrate"], { env })).code).toBe(0);
  expect(await Bun.file(named).exists()).toBe(true);
  const redis = { ...env, REDIS_URL_FILE: join(folder, "nowhere"), REDIS_URL: "nonsense" };
  expect((await petstore(["serve", "--valkey-url", "", "--port", "x"], { env: redis })).stderr).toBe(
    'petstore: Cannot start: PORT must be a whole number from 0 to 65535, got "x".\n',
  );
  const other = join(folder, "other.db");
  expect((await petstore(["migrate", "--database-url", other], { env })).code).toBe(0);
  expect(await Bun.file(other).exists()).toBe(true);
});
