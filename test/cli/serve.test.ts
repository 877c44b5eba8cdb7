import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import {
  adminKey,
  aFolder,
  aFreePort,
  eventually,
  type Folder,
  PETSTORE,
  petstore,
  run,
  serving,
} from "./command.ts";

const READY_WITHIN_MS = 2000;
const aKey = /ps_live_[0-9A-Za-z]{49}/;

test("a first start makes the database, hides the admin key in a file and prints a curl line that works", async () => {
  using folder = aFolder();
  // As `npm start` does it: in its own folder, with no setting but a free port.
  await using server = await serving({ database: "./data/petstore.db", in: folder.path, args: ["--demo"] });
  expect(server.startedInMs).toBeLessThan(READY_WITHIN_MS);
  expect(await ready(server.url)).toBe(200);
  expect(readdirSync(folder.file("data")).sort()).toContain("petstore.db");

  expect(adminKey(folder)).toMatch(aKey);
  expect(statSync(folder.file("data/admin.key")).mode & 0o777).toBe(0o600);
  for (const name of readdirSync(folder.file("data")))
    expect(statSync(folder.file(`data/${name}`)).mode & 0o077, name).toBe(0);

  const link = readFileSync(folder.file("data/console.link"), "utf8").trim();
  expect(link).toStartWith(`${server.url}/console#link=`);
  const signIn = () =>
    fetch(`${server.url}/console/session`, {
      method: "POST",
      headers: { "x-petstore-console": "1", "x-petstore-link": link.split("=")[1] as string },
    });
  expect([(await signIn()).status, (await signIn()).status]).toEqual([204, 401]);

  const banner = server.stderr();
  expect(banner).toContain("sign in     in data/console.link");
  expect(banner).toContain(`listening on ${server.url}\n`);
  expect(banner).toContain("data/admin.key");
  const line = /curl .*/.exec(banner)?.[0] as string;
  const answer = await run(["sh", "-c", line.replace("curl", "curl -sS -w '\n%{http_code}'")], {
    in: folder.path,
  });
  expect(answer).toMatchObject({ code: 0, stderr: "" });
  const [body, status] = answer.stdout.split(/\n(?=\d+$)/);
  expect(status).toBe("200");
  expect(JSON.parse(body as string).length).toBeGreaterThan(5);
  for (const [path] of banner.matchAll(/(?<=\d)\/[a-z.]+$/gm))
    expect((await fetch(server.url + path)).status, path).toBeLessThan(402);

  expect(await server.end("SIGTERM")).toBe(0);
  expect(server.stdout() + server.stderr()).not.toMatch(aKey);
  expect(server.stdout() + server.stderr()).not.toContain(link.split("=")[1] as string);
});

test("with the console off a first start names no page and makes no link", async () => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database, env: { CONSOLE: "off" } });
  expect(await server.end("SIGTERM")).toBe(0);
  expect(server.stderr()).not.toMatch(/console|sign in/);
  expect(readdirSync(folder.file("data"))).not.toContain("console.link");
});

test.each([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "localhost"],
])("a server on every address (%s) offers links that lead to it: %s", async (host, shown) => {
  using folder = aFolder();
  const env = { HOST: host, METRICS_PORT: "0", METRICS_HOST: host };
  await using server = await serving({ database: folder.database, env });
  const at = `http://${shown}:${new URL(server.url).port}`;
  expect(await eventually(() => server.stderr().includes("stop "), 5000)).toBe(true);
  expect(server.stderr()).toContain(`  docs        ${at}/docs\n`);
  expect(server.stderr()).toContain(`  metrics     http://${shown}:`);
  expect(readFileSync(folder.file("data/console.link"), "utf8")).toStartWith(`${at}/console#link=`);
  expect((await fetch(`${at}/docs`)).status).toBe(200);
});

test("a second start makes no second key and loads no second catalogue", async () => {
  using folder = aFolder();
  const start = async () => {
    await using server = await serving({ database: folder.database, args: ["--demo"] });
    const response = await fetch(`${server.url}/pets?limit=100`, {
      headers: { "x-api-key": adminKey(folder) },
    });
    expect(await server.end("SIGTERM")).toBe(0);
    return { key: adminKey(folder), pets: await response.json(), banner: server.stderr() };
  };
  const first = await start();
  const second = await start();
  expect(second.key).toBe(first.key);
  expect(second.pets).toEqual(first.pets);
  expect(second.banner).toContain("admin.key");
  const keys = await petstore(["keys", "list", "--json"], { env: { DATABASE_URL: folder.database } });
  expect(JSON.parse(keys.stdout)).toHaveLength(1);
});

test("on a terminal the key is shown once, at the first start, and in no file", async () => {
  using folder = aFolder();
  const first = await onATerminal(folder);
  expect(first.text.match(new RegExp(aKey, "g"))?.length).toBe(2);
  expect(new Set(first.text.match(new RegExp(aKey, "g"))).size).toBe(1);
  expect(first.text).toContain("shown this once");
  expect(first.text).toMatch(/ http:\S+\/console#link=[\w-]{43} {2}\(works once, within 15 minutes\)/);
  expect(first.curlStatus).toBe(200);
  expect(existsSync(folder.file("data/admin.key"))).toBe(false);
  expect(existsSync(folder.file("data/console.link"))).toBe(false);
  const second = await onATerminal(folder);
  expect(second.text).not.toMatch(aKey);
  expect(second.text).not.toContain("#link=");
  expect(second.text).toContain("keys create --role admin");
}, 20_000);

test("the curl line works in a folder whose name has a space", async () => {
  using folder = aFolder();
  const database = folder.file("my pets/petstore.db");
  await using server = await serving({ database, in: folder.path });
  const line = /curl .*/.exec(server.stderr())?.[0] as string;
  const { stdout } = await run(
    ["sh", "-c", line.replace("curl", "curl -sS -o /dev/null -w '%{http_code}'")],
    { in: folder.path },
  );
  expect(stdout).toBe("200");
});

test("a first start that finds its port taken does not cost the operator the admin key", async () => {
  using folder = aFolder();
  using taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const env = { DATABASE_URL: folder.database, PORT: String(taken.port) };
  expect((await petstore(["serve"], { env })).code).toBe(1);
  await using server = await serving({ database: folder.database });
  expect(existsSync(folder.file("data/admin.key"))).toBe(true);
  const response = await fetch(`${server.url}/pets`, { headers: { "x-api-key": adminKey(folder) } });
  expect(response.status).toBe(200);
});

test("settings come from the environment and from flags, and flags win", async () => {
  using folder = aFolder();
  const env = { DATABASE_URL: "/nowhere/at/all.db", LOG_LEVEL: "silent", NEW_PET_STOCK: "3" };
  const args = ["--database-url", folder.database, "--new-pet-stock", "7"];
  await using server = await serving({ database: "", env, args });
  const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
  const post = async (path: string, body: unknown) => {
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return (await response.json()) as { id: number };
  };
  const category = await post("/categories", { name: "Dogs" });
  const pet = await post("/pets", { name: "Rex", categoryId: category.id });
  const stock = await fetch(`${server.url}/store/inventory/${pet.id}`, { headers });
  expect(await stock.json()).toMatchObject({ quantity: 7 });
  expect(await server.end("SIGTERM")).toBe(0);
  expect(server.stdout()).toBe("");
});

test("live and ready are told without a key", async () => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database });
  for (const path of ["/livez", "/readyz", "/", "/openapi.json"])
    expect((await fetch(server.url + path)).status).toBe(200);
});

test("each request is one line of JSON, and no key is in any of them", async () => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database });
  const key = adminKey(folder);
  const send = (path: string, headers: Record<string, string>) => fetch(server.url + path, { headers });
  await send("/pets", { "x-api-key": key, "x-request-id": "mine-1" });
  await send("/pets/4711", { authorization: `Bearer ${key}` });
  await send(`/pets?key=${key}`, {});
  await send(`/${key}`, { "x-api-key": key });
  await send("/pets", { "x-api-key": `${key},${key}`, "x-request-id": key });
  await send("/pets", { "x-api-key": key.slice(0, -1) });
  await send("/categories", { "user-agent": key, referer: key, cookie: key, "idempotency-key": key });
  expect(await server.end("SIGTERM")).toBe(0);

  const lines = server
    .stdout()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const requests = lines.filter(({ message }) => message === "request");
  expect(requests).toHaveLength(7);
  expect(requests[0]).toMatchObject({
    level: "info",
    requestId: "mine-1",
    method: "GET",
    path: "/pets",
    operation: "pets.list",
    status: 200,
    keyId: 1,
    clientId: 1,
  });
  expect(requests[0].milliseconds).toBeNumber();
  expect(new Date(requests[0].time).toISOString()).toBe(requests[0].time);
  expect(requests[1]).toMatchObject({ path: "/pets/4711", status: 404, code: "pet_not_found" });
  for (const output of [server.stdout(), server.stderr()]) expect(output).not.toContain(key.slice(8, 40));
});

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

test("the figures have a port of their own if they are given one, from the start to the stop", async () => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database, env: { METRICS_PORT: "0" } });
  const told = () => /"metricsUrl":"(http:[^"]+)"/.exec(server.stdout())?.[1];
  expect(await eventually(() => told() !== undefined, 5000)).toBe(true);
  const at = told() as string;
  expect(server.stderr()).toContain(`  metrics     ${at}\n`);
  expect(await (await fetch(at)).text()).toContain("petstore_database_up 1\n");
  expect(await server.end("SIGTERM")).toBe(0);
  expect(await fetch(at).catch(() => null)).toBeNull();
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

async function ready(url: string): Promise<number> {
  return (await fetch(`${url}/readyz`)).status;
}

/** Starts the server on a pseudo-terminal, tries its curl line, stops it by a signal, and gives what was shown. */
async function onATerminal(folder: Folder): Promise<{ text: string; curlStatus: number }> {
  const command = `echo pid=$$; exec '${PETSTORE}' serve`;
  const child = Bun.spawn(["script", "-qec", `sh -c "${command.replaceAll("$", "\\$")}"`, "/dev/null"], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: "/",
      DATABASE_URL: folder.database,
      PORT: "0",
      SHELL: "/bin/sh",
    },
    cwd: folder.path,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const reading = (async () => {
    for await (const chunk of child.stdout) text += new TextDecoder().decode(chunk);
  })();
  try {
    expect(await eventually(() => text.includes("Ctrl-C"), 10_000)).toBe(true);
    const line = /curl [^\r\n]*/.exec(text)?.[0] ?? "";
    const { stdout } = await run([
      "sh",
      "-c",
      line.replace("curl", "curl -s -o /dev/null -w '%{http_code}'"),
    ]);
    process.kill(Number(/pid=(\d+)/.exec(text)?.[1]), "SIGINT");
    expect(await child.exited).toBe(0);
    await reading;
    return { text, curlStatus: Number(stdout) };
  } finally {
    child.kill("SIGKILL");
  }
}
