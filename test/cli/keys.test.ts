import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aFolder, eventually, petstore, type Served, serving } from "./command.ts";

const folder = aFolder();
const asked = { env: { DATABASE_URL: folder.database } };
let server: Served;
beforeAll(async () => {
  server = await serving({ database: folder.database });
});
afterAll(async () => {
  await server.end("SIGKILL");
  folder[Symbol.dispose]();
});

/** The JSON that a command prints. */
async function json(...words: string[]) {
  const { code, stdout, stderr } = await petstore([...words, "--json"], asked);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

async function statusWith(key: string): Promise<number> {
  return (await fetch(`${server.url}/pets`, { headers: { "x-api-key": key } })).status;
}

test.each([
  ["free", 60, 1000],
  ["pro", 300, 10_000],
  ["business", 1000, 100_000],
])("a client on the %s plan has that plan's limits", async (plan, perMinute, perDay) => {
  const client = await json("clients", "create", "--name", `A ${plan} shop`, "--plan", plan);
  expect(client).toMatchObject({ name: `A ${plan} shop`, plan, perMinute, perDay });
  expect(client.id).toBePositive();
  expect(await json("clients", "list")).toContainEqual(client);
});

test("an enterprise client gets the numbers that it is given", async () => {
  const numbers = ["--per-minute", "5000", "--per-day", "2000000"];
  const client = await json("clients", "create", "--name", "Big", "--plan", "enterprise", ...numbers);
  expect(client).toMatchObject({ name: "Big", plan: "enterprise", perMinute: 5000, perDay: 2_000_000 });
});

test.each([
  [["--plan", "enterprise"], /needs both numbers/],
  [["--plan", "enterprise", "--per-minute", "5"], /needs both numbers/],
  [["--plan", "enterprise", "--per-day", "5"], /needs both numbers/],
  [["--plan", "pro", "--per-minute", "5"], /only enterprise takes numbers/],
])("a client with %j is refused in one sentence, and none is made", async (flags, says) => {
  const before = await json("clients", "list");
  const { code, stdout, stderr } = await petstore(["clients", "create", "--name", "Odd", ...flags], asked);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(says);
  expect(stderr).toMatch(/^petstore: [^\n]+\n$/);
  expect(await json("clients", "list")).toEqual(before);
});

test("a key is shown once: of it only the hash and the last four characters are kept", async () => {
  const { id: client } = await json("clients", "create", "--name", "Shop", "--plan", "pro");
  const made = await json("keys", "create", "--client", String(client), "--role", "staff", "--name", "till");
  expect(made).toMatchObject({ clientId: client, role: "staff", name: "till" });
  expect(made.key).toMatch(/^ps_live_[0-9A-Za-z]{49}$/);

  const listed = await petstore(["keys", "list", "--client", String(client)], asked);
  expect(listed.stdout).toContain(`...${made.key.slice(-4)}`);
  expect(listed.stdout).not.toContain(made.key.slice(0, 20));
  expect(await json("keys", "list", "--client", String(client))).toHaveLength(1);

  using database = new Database(folder.database, { readonly: true });
  const row = database.query("select hash, last_four from api_keys where id = ?").get(made.id);
  expect(row).toEqual({
    hash: createHash("sha256").update(made.key).digest("hex"),
    last_four: made.key.slice(-4),
  });
  const secret = made.key.slice("ps_live_".length);
  for (const name of readdirSync(dirname(folder.database)).filter((each) => each.startsWith("petstore.db"))) {
    const bytes = readFileSync(join(dirname(folder.database), name));
    expect({ name, isThere: bytes.includes(secret) }).toEqual({ name, isThere: false });
  }
});

test("a customer key is the default, and a role alone makes a key of the operator's own client", async () => {
  const { id: client } = await json("clients", "create", "--name", "Kiosk", "--plan", "free");
  expect(await json("keys", "create", "--client", String(client))).toMatchObject({ role: "customer" });
  const admin = await json("keys", "create", "--role", "admin");
  const other = await json("keys", "create", "--role", "admin");
  expect(admin).toMatchObject({ role: "admin", clientId: other.clientId });
  const clients = (await json("clients", "list")) as { id: number; name: string; plan: string }[];
  expect(clients.find(({ id }) => id === admin.clientId)).toMatchObject({
    name: "operator",
    plan: "enterprise",
  });
  expect(clients.filter(({ name }) => name === "operator")).toHaveLength(1);
});

test("a key for people comes alone on its line, with a word of warning", async () => {
  const { code, stdout } = await petstore(["keys", "create", "--role", "admin"], asked);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^ps_live_[0-9A-Za-z]{49}\n\nKey \d+ of client \d+, role admin\. .*not shown again\.\n$/,
  );
});

test("for machines, what a key does not have is not there", async () => {
  const made = await json("keys", "create", "--role", "admin");
  const known = Object.entries(made).filter(
    ([, value]) => value !== null && value !== undefined && value !== "-",
  );
  expect(Object.fromEntries(known)).toEqual(made);
});

test("an expiry is so many days from now", async () => {
  const made = await json("keys", "create", "--role", "admin", "--expires-in-days", "90");
  const days = (Date.parse(made.expiresAt) - Date.now()) / (24 * 60 * 60 * 1000);
  expect(days).toBeGreaterThan(89.99);
  expect(days).toBeLessThanOrEqual(90);
});

test.each([
  [["keys", "create", "--client", "4711"], "petstore: There is no client 4711."],
  [["keys", "revoke", "4711"], "petstore: There is no key 4711."],
])("%j of what does not exist is refused", async (words, says) => {
  const { code, stdout, stderr } = await petstore(words, asked);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toStartWith(says);
});

test("a key made beside a running server works at once, and a revoked one stops within a second", async () => {
  const made = await json("keys", "create", "--role", "staff");
  expect(await statusWith(made.key)).toBe(200);
  const revoked = await json("keys", "revoke", String(made.id));
  const since = performance.now();
  expect(Date.parse(revoked.revokedAt)).toBePositive();
  expect(await eventually(async () => (await statusWith(made.key)) === 401, 1000)).toBe(true);
  expect(performance.now() - since).toBeLessThan(1000);
  const refused = await fetch(`${server.url}/pets`, { headers: { "x-api-key": made.key } });
  expect(await refused.json()).toMatchObject({ code: "revoked_api_key" });
});

test("revoking a key again changes nothing", async () => {
  const made = await json("keys", "create", "--role", "staff");
  const first = await json("keys", "revoke", String(made.id));
  expect(await json("keys", "revoke", String(made.id))).toEqual(first);
});
