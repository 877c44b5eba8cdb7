import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { aFreePort } from "../servers/port.ts";
import { aFolder, petstore } from "./command.ts";

interface Fault {
  readonly fault: string;
  readonly env?: Record<string, string>;
  readonly code: number;
  readonly says: readonly string[];
}

const faults: Fault[] = [
  {
    fault: "settings that are wrong, all of them named at once",
    env: {
      PORT: "eighty",
      LOG_LEVEL: "loud",
      NEW_PET_STOCK: "0",
      PET_GET_SUNSET_AT: "soon",
      HOST: " ",
      CONSOLE: "maybe",
    },
    code: 2,
    says: [
      'got "eighty"',
      "LOG_LEVEL",
      'got "loud"',
      "NEW_PET_STOCK",
      "PET_GET_SUNSET_AT",
      'got "soon"',
      "HOST",
      'CONSOLE must be on or off, got "maybe"',
    ],
  },
  {
    fault: "a sunset on a day that no calendar has",
    env: { PET_GET_SUNSET_AT: "2027-02-31T00:00:00Z" },
    code: 2,
    says: ["PET_GET_SUNSET_AT must be an RFC 3339 date-time", 'got "2027-02-31T00:00:00Z"'],
  },
  {
    fault: "a sunset before the deprecation",
    env: { PET_GET_DEPRECATED_AT: "2027-01-01T00:00:00Z", PET_GET_SUNSET_AT: "2026-01-01T00:00:00Z" },
    code: 2,
    says: ["PET_GET_SUNSET_AT must not be before PET_GET_DEPRECATED_AT"],
  },
  {
    fault: "a sunset before the deprecation beside another wrong setting",
    env: {
      PORT: "-1",
      PET_GET_DEPRECATED_AT: "2027-01-01T00:00:00Z",
      PET_GET_SUNSET_AT: "2026-01-01T00:00:00Z",
    },
    code: 2,
    says: ['got "-1"', "PET_GET_SUNSET_AT must not be before PET_GET_DEPRECATED_AT"],
  },
  {
    fault: "a database of a kind that is not known",
    env: { DATABASE_URL: "mysql://127.0.0.1/petstore" },
    code: 2,
    says: ["DATABASE_URL", "mysql://127.0.0.1/petstore"],
  },
  {
    fault: "an address that is not this machine's",
    env: { HOST: "192.0.2.1" },
    code: 1,
    says: ["192.0.2.1", "--host 127.0.0.1"],
  },
  {
    fault: "one port for the API and for the figures",
    env: { PORT: "8123", METRICS_PORT: "8123" },
    code: 2,
    says: ["METRICS_PORT must not be PORT"],
  },
  {
    fault: "an address for the figures that is not this machine's",
    env: { METRICS_PORT: "0", METRICS_HOST: "192.0.2.1" },
    code: 1,
    says: ["192.0.2.1", "--metrics-host 127.0.0.1"],
  },
];

test.each(faults)("$fault: one plain sentence and no stack", async ({ env = {}, code, says }) => {
  using folder = aFolder();
  const ended = await petstore(["serve"], {
    env: { DATABASE_URL: folder.database, PORT: "0", ...env },
    in: folder.path,
  });
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
  expect(ended.stderr).toMatch(/^petstore: [^\n]+\n$/);
  for (const word of says) expect(ended.stderr).toContain(word);
});

test("a taken port is told with another one to try", async () => {
  using folder = aFolder();
  using taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const env = { DATABASE_URL: folder.database, PORT: String(taken.port) };
  const { code, stderr } = await petstore(["serve"], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^petstore: [^\n]+\n$/);
  expect(stderr).toContain(`127.0.0.1:${taken.port} is taken`);
  expect(stderr).toContain(`--port ${(taken.port as number) + 1}`);
});

test("a taken port for the figures is told by its own name, and nothing is left listening", async () => {
  using folder = aFolder();
  using taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = String(aFreePort());
  const env = { DATABASE_URL: folder.database, PORT: port, METRICS_PORT: String(taken.port) };
  const { code, stderr } = await petstore(["serve"], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^petstore: [^\n]+\n$/);
  expect(stderr).toContain(`127.0.0.1:${taken.port} is taken`);
  const next = (taken.port as number) + 1;
  expect(stderr).toContain(`--metrics-port ${next} or METRICS_PORT=${next}`);
  expect(await fetch(`http://127.0.0.1:${port}/livez`).catch(() => null)).toBeNull();
});

test.each([["serve"], ["migrate"], ["doctor"], ["demo"]])(
  "%s with a folder that cannot be written is refused in one sentence",
  async (command) => {
    using folder = aFolder();
    // A file where a folder should be stops even root.
    writeFileSync(folder.file("file"), "");
    const database = folder.file("file/petstore.db");
    const { code, stdout, stderr } = await petstore([command], {
      env: { DATABASE_URL: database, PORT: "0" },
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^petstore: (Cannot open the|There is no) database [^\n]+\n$/);
    expect(stderr).toContain(database);
  },
);

test("a file that is no database is refused in one sentence and left as it is", async () => {
  using folder = aFolder();
  const letter = "Dear aunt, this is not a database.\n".repeat(50);
  writeFileSync(folder.file("letter.txt"), letter);
  const env = { DATABASE_URL: folder.file("letter.txt"), PORT: "0" };
  const { code, stderr } = await petstore(["serve"], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^petstore: Cannot open the database [^\n]+\n$/);
  expect(await Bun.file(folder.file("letter.txt")).text()).toBe(letter);
});
