import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aShop } from "./shop.ts";

const { folder, json, refusal, misuse, run, meets, soonMeets, server } = aShop();
const DAY_MS = 24 * 60 * 60 * 1000;

test("a key is shown once: of it only the hash and the last four characters are kept", async () => {
  const { id: client } = await json("clients", "create", "--name", "Shop", "--plan", "pro");
  const made = await json("keys", "create", "--client", String(client), "--role", "staff", "--name", "till");
  expect(made).toMatchObject({ clientId: client, role: "staff", name: "till" });
  expect(made.key).toMatch(/^ps_live_[0-9A-Za-z]{49}$/);

  const listed = await run("keys", "list", "--client", String(client));
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
  const { code, stdout } = await run("keys", "create", "--role", "admin");
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^ps_live_[0-9A-Za-z]{49}\n\nKey \d+ of client \d+, role admin\. .*not shown again\.\n$/,
  );
});

test("a name that a customer chose does nothing to the operator's terminal, and is for machines what it is", async () => {
  const name = "x\u001b[2K\u001b[1A\u202e\nKey 1 of client 1";
  const { id: client } = await json("clients", "create", "--name", "Loud");
  const own = await json("keys", "create", "--client", String(client), "--name", "quiet");
  const asked = { method: "POST", headers: { "x-api-key": own.key, "content-type": "application/json" } };
  const answer = await fetch(`${server().url}/account/keys`, { ...asked, body: JSON.stringify({ name }) });
  expect(answer.status).toBe(201);
  const { stdout } = await run("keys", "list", "--client", String(client));
  const [head = "", first = "", second = "", end] = stdout.split("\n");
  expect(second).toContain("  x\\u001b[2K\\u001b[1A\\u202e\\u000aKey 1 of client 1  ...");
  expect(end).toBe("");
  // The column is as wide as the name that is seen.
  const at = head.indexOf("  key ") + 2;
  expect([first, second].map((line) => line.slice(at, at + 3))).toEqual(["...", "..."]);
  const listed = await json("keys", "list", "--client", String(client));
  expect(listed.map((key: { name: string }) => key.name)).toEqual(["quiet", name]);
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

test.each([[["keys", "revoke", "4711"]], [["keys", "rotate", "4711"]]])(
  "%j of what does not exist is refused",
  async (words) => {
    expect(await refusal(...words)).toBe("There is no key 4711. Find ids with 'petstore keys list'.");
  },
);

test("a key made beside a running server works at once, and a revoked one stops within a second", async () => {
  const made = await json("keys", "create", "--role", "staff");
  expect((await meets(made.key)).status).toBe(200);
  expect(await json("keys", "revoke", String(made.id))).toMatchObject({ id: made.id });
  expect(await soonMeets(made.key, ({ code }) => code === "revoked_api_key")).toBe(true);
});

test("revoking a key again changes nothing", async () => {
  const made = await json("keys", "create", "--role", "staff");
  const first = await json("keys", "revoke", String(made.id));
  const listed = async () => (await json("keys", "list")).find((key: { id: number }) => key.id === made.id);
  const revoked = await listed();
  expect(revoked).toMatchObject({ revokedAt: expect.any(String) });
  expect(await json("keys", "revoke", String(made.id))).toEqual(first);
  expect(await listed()).toEqual(revoked);
});

test("a rotated key is shown once, and without an overlap the old one stops within a second", async () => {
  const old = await json("keys", "create", "--role", "staff", "--name", "till");
  expect((await meets(old.key)).status).toBe(200);
  const { code, stdout } = await run("keys", "rotate", String(old.id), "--overlap-days", "0");
  expect(code).toBe(0);
  const [key = ""] = stdout.split("\n");
  expect(stdout).toMatch(
    /^ps_live_[0-9A-Za-z]{49}\n\nKey \d+ of client \d+, role staff\. .*not shown again\.\nKey \d+, .* no longer works\.\n$/,
  );
  expect(stdout).toContain(`\nKey ${old.id}, which it replaces, `);
  expect((await meets(key)).status).toBe(200);
  expect(await soonMeets(old.key, (met) => met.code === "revoked_api_key")).toBe(true);
});

test.each([
  [[], 1],
  [["--overlap-days", "7"], 7],
])("with %j the old key lives on for %d days", async (overlap, lasts) => {
  const old = await json("keys", "create", "--role", "staff", "--name", "till");
  const made = await json("keys", "rotate", String(old.id), ...overlap);
  expect(made).toMatchObject({ clientId: old.clientId, role: "staff", name: "till" });
  expect(made.id).not.toBe(old.id);
  expect([(await meets(old.key)).status, (await meets(made.key)).status]).toEqual([200, 200]);
  const listed = await json("keys", "list");
  const { expiresAt } = listed.find(({ id }: { id: number }) => id === old.id);
  const days = (Date.parse(expiresAt) - Date.now()) / DAY_MS;
  expect(days).toBeGreaterThan(lasts - 0.01);
  expect(days).toBeLessThanOrEqual(lasts);
});

test("whoever rotates a key is told until when the old one works", async () => {
  const { id } = await json("keys", "create", "--role", "staff");
  const { stdout } = await run("keys", "rotate", String(id), "--overlap-days", "7");
  expect(stdout).toContain(
    `Key ${id}, which it replaces, goes on working for 7 days, if it does not expire before.\n`,
  );
});

test("an overlap of more than 30 days, or an expiry of more than ten years, is refused", async () => {
  const { id } = await json("keys", "create", "--role", "staff");
  expect(await misuse("keys", "rotate", String(id), "--overlap-days", "31")).toBe(
    "--overlap-days must be at most 30, got 31.",
  );
  expect(await misuse("keys", "create", "--expires-in-days", "3651")).toBe(
    "--expires-in-days must be at most 3650, got 3651.",
  );
});

test("what the command changes is in the audit trail, once each, without a key in it", async () => {
  const { key: admin } = await json("keys", "create", "--role", "admin");
  const read = async () => {
    const answer = await fetch(`${server().url}/admin/audit?limit=100`, { headers: { "x-api-key": admin } });
    return (await answer.json()) as { by: string; operation: string; subject: string; input: string }[];
  };
  const before = (await read()).length;
  const { id } = await json("clients", "create", "--name", "Seen");
  const made = await json("keys", "create", "--client", String(id));
  await json("keys", "revoke", String(made.id));
  await refusal("keys", "rotate", String(made.id));
  const entries = await read();
  expect(entries).toHaveLength(Math.min(100, before + 3));
  expect(entries.slice(0, 3)).toMatchObject([
    { by: "command line", operation: "admin.keys.revoke", subject: `keys/${made.id}` },
    { by: "command line", operation: "admin.keys.create", subject: `keys/${made.id}` },
    { by: "command line", operation: "admin.clients.create", subject: `clients/${id}` },
  ]);
  expect(JSON.stringify(entries)).not.toContain("ps_live_");
});
