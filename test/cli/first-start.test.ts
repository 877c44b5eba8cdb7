import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { adminKey, aFolder, eventually, type Folder, PETSTORE, petstore, run, serving } from "./command.ts";

const aKey = /ps_live_[0-9A-Za-z]{49}/;

test("a first start makes the database, hides the admin key in a file and prints a curl line that works", async () => {
  using folder = aFolder();
  // As `npm start` does it: in its own folder, with no setting but a free port.
  await using server = await serving({ database: "./data/petstore.db", in: folder.path, args: ["--demo"] });
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
  expect(second.text).toMatch(/keys create --role admin\s/);
  expect(second.text).not.toContain("--database-url");
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
