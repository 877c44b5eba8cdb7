// A running server with the command beside it, as the operator has them.
import { afterAll, beforeAll, expect } from "bun:test";
import { aFolder, eventually, type Folder, petstore, type Served, serving } from "./command.ts";

export interface Shop {
  readonly folder: Folder;
  readonly server: () => Served;
  /** What a command ends with. */
  run(...words: string[]): ReturnType<typeof petstore>;
  /** The JSON that a command prints. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  json(...words: string[]): Promise<any>;
  /** The one sentence that a command refuses with, exit code 1. */
  refusal(...words: string[]): Promise<string>;
  /** The one sentence that wrong flags are refused with, exit code 2. */
  misuse(...words: string[]): Promise<string>;
  /** What a key meets: the status, and the code of a refusal. */
  meets(key: string, path?: string): Promise<{ status: number; code?: string; headers: Headers }>;
  /** Whether a key meets this within a second. */
  soonMeets(key: string, what: (met: Awaited<ReturnType<Shop["meets"]>>) => boolean): Promise<boolean>;
}

/** A shop for the tests of one file. */
export function aShop(env: Readonly<Record<string, string>> = {}): Shop {
  const folder = aFolder();
  const asked = { env: { DATABASE_URL: folder.database } };
  let server: Served;
  beforeAll(async () => {
    server = await serving({ database: folder.database, env: { ANONYMOUS_PER_MINUTE: "100000", ...env } });
  });
  afterAll(async () => {
    await server.end("SIGKILL");
    folder[Symbol.dispose]();
  });

  const sentence = async (expected: number, words: readonly string[]) => {
    const { code, stdout, stderr } = await petstore(words, asked);
    expect({ code, stdout }).toEqual({ code: expected, stdout: "" });
    expect(stderr).toMatch(/^petstore: [^\n]+\n$/);
    return stderr.slice("petstore: ".length, -1);
  };
  const shop: Shop = {
    folder,
    server: () => server,
    run: (...words) => petstore(words, asked),
    async json(...words) {
      const { code, stdout, stderr } = await petstore([...words, "--json"], asked);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout);
    },
    refusal: (...words) => sentence(1, words),
    misuse: (...words) => sentence(2, words),
    async meets(key, path = "/pets") {
      const response = await fetch(server.url + path, { headers: { "x-api-key": key } });
      const { code } = (await response.json()) as { code?: string };
      return { status: response.status, headers: response.headers, ...(code !== undefined && { code }) };
    },
    async soonMeets(key, what) {
      const since = performance.now();
      const isTrue = await eventually(async () => what(await shop.meets(key)), 1000);
      return isTrue && performance.now() - since < 1000;
    },
  };
  return shop;
}
