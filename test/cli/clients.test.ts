import { expect, test } from "bun:test";
import { petstore } from "./command.ts";
import { aShop } from "./shop.ts";

const { folder, json, refusal, misuse, run, meets, soonMeets, server } = aShop();

/** A client on the pro plan with a key that has been used. */
async function aUsedClient(): Promise<{ id: string; key: string }> {
  const { id } = await json("clients", "create", "--name", "Shop", "--plan", "pro");
  const { key } = await json("keys", "create", "--client", String(id));
  expect((await meets(key)).status).toBe(200);
  return { id: String(id), key };
}

test.each([
  ["free", 60, 1000],
  ["pro", 300, 10_000],
  ["business", 1000, 100_000],
])("a client on the %s plan has that plan's limits", async (plan, perMinute, perDay) => {
  const client = await json("clients", "create", "--name", `A ${plan} shop`, "--plan", plan);
  const { id, createdAt } = client;
  expect(client).toEqual({
    id,
    name: `A ${plan} shop`,
    plan,
    perMinute,
    perDay,
    suspended: false,
    createdAt,
  });
  expect(id).toBePositive();
  expect(await json("clients", "list")).toContainEqual(client);
});

test("a client is on the free plan if nothing else is said", async () => {
  expect(await json("clients", "create", "--name", "Kiosk")).toMatchObject({ plan: "free", perMinute: 60 });
});

test("an enterprise client gets the numbers that it is given", async () => {
  const numbers = ["--per-minute", "5000", "--per-day", "2000000"];
  const client = await json("clients", "create", "--name", "Big", "--plan", "enterprise", ...numbers);
  expect(client).toMatchObject({ name: "Big", plan: "enterprise", perMinute: 5000, perDay: 2_000_000 });
});

test.each([
  [
    ["--plan", "enterprise"],
    /^--per-minute must be given: .* needs both numbers.*; --per-day must be given: /,
  ],
  [["--plan", "enterprise", "--per-minute", "5"], /^--per-day must be given: .* needs both numbers/],
  [["--plan", "enterprise", "--per-day", "5"], /^--per-minute must be given: .* needs both numbers/],
  [
    ["--plan", "pro", "--per-minute", "5"],
    /^--per-minute must not be given: .* only enterprise takes numbers/,
  ],
])("a client with %j is refused in one sentence, and none is made or changed", async (flags, says) => {
  const { id } = await json("clients", "create", "--name", "Shop");
  const before = await json("clients", "list");
  expect(await misuse("clients", "create", "--name", "Odd", ...flags)).toMatch(says);
  expect(await misuse("clients", "change", String(id), ...flags)).toMatch(says);
  expect(await json("clients", "list")).toEqual(before);
});

test("for people a client is a sentence, and what to do next", async () => {
  const { code, stdout } = await run("clients", "create", "--name", "Corner", "--plan", "pro");
  expect(code).toBe(0);
  const [said, next] = stdout.split("\n");
  expect(said).toMatch(/^Client \d+ "Corner" on the pro plan: 300 requests a minute, 10000 a day\.$/);
  const [, proposed = ""] = next?.split("Make a key for it: petstore ") ?? [];
  expect(proposed).toEndWith(` --database-url ${folder.database}`);
  const key = /ps_live_\w+/.exec((await petstore(proposed.split(" "))).stdout)?.[0];
  expect((await meets(String(key))).status).toBe(200);
});

test("a change of plan holds within a second on a running server, and keeps what was counted", async () => {
  const { id, key } = await aUsedClient();
  const changed = await json("clients", "change", id, "--plan", "business", "--name", "Larger");
  expect(changed).toMatchObject({ name: "Larger", plan: "business", perMinute: 1000, perDay: 100_000 });
  const isBusiness = ({ headers }: { headers: Headers }) => headers.get("x-ratelimit-limit") === "1000";
  expect(await soonMeets(key, isBusiness)).toBe(true);
  expect(Number((await meets(key)).headers.get("x-ratelimit-remaining"))).toBeLessThan(998);
  const enterprise = ["--plan", "enterprise", "--per-minute", "77", "--per-day", "7777"];
  expect(await json("clients", "change", id, ...enterprise)).toMatchObject({ perMinute: 77, perDay: 7777 });
  expect(await json("clients", "change", id, "--per-day", "8888")).toMatchObject({
    perMinute: 77,
    perDay: 8888,
  });
});

test("a suspended client is refused within a second, and a resumed one is let in again", async () => {
  const { id, key } = await aUsedClient();
  const { code, stdout } = await run("clients", "suspend", id);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `Client ${id} "Shop" is suspended.\n` });
  expect(await soonMeets(key, (met) => met.code === "client_suspended")).toBe(true);
  expect(
    (await json("clients", "list")).find((each: { id: number }) => String(each.id) === id),
  ).toMatchObject({ suspended: true });
  expect(await json("clients", "resume", id)).toMatchObject({ suspended: false });
  expect(await soonMeets(key, ({ status }) => status === 200)).toBe(true);
});

test("a removed client is gone within a second, and its keys with it", async () => {
  const { id, key } = await aUsedClient();
  const { code, stdout } = await run("clients", "remove", id);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `Client ${id} is removed.\n` });
  expect(await soonMeets(key, (met) => met.code === "revoked_api_key")).toBe(true);
  expect((await json("clients", "list")).map((each: { id: number }) => String(each.id))).not.toContain(id);
});

test("a client with an open order is not removed", async () => {
  const { id, key } = await aUsedClient();
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const placed = await fetch(`${server().url}/store/orders`, { method: "POST", headers, body: "{}" });
  expect(placed.status).toBe(201);
  const order = (await placed.json()) as { id: number };
  expect(await refusal("clients", "remove", id)).toBe(
    `Client ${id} has open orders or drafts: ${order.id}. Complete or cancel them first.`,
  );
  expect((await meets(key)).status).toBe(200);
});

test.each([
  [["clients", "change", "4711", "--plan", "pro"]],
  [["clients", "suspend", "4711"]],
  [["clients", "resume", "4711"]],
  [["clients", "remove", "4711"]],
  [["keys", "create", "--client", "4711"]],
])("%j of a client that does not exist is refused", async (words) => {
  expect(await refusal(...words)).toBe("There is no client 4711. Find ids with 'petstore clients list'.");
});

test("a name with a line and an escape in it is shown, and neither breaks the sentence nor the table", async () => {
  const { id } = await json("clients", "create", "--name", "Big\u001b[1A\nshop");
  const named = `Client ${id} "Big\\u001b[1A\\u000ashop"`;
  const { stdout } = await run("clients", "change", String(id), "--plan", "pro");
  expect(stdout).toBe(`${named} on the pro plan: 300 requests a minute, 10000 a day.\n`);
  expect((await run("clients", "suspend", String(id))).stdout).toBe(`${named} is suspended.\n`);
  const listed = (await run("clients", "list")).stdout;
  expect(listed).toContain("  Big\\u001b[1A\\u000ashop  ");
  expect(listed).not.toContain("\u001b");
});

test("the plans are those of the specification", async () => {
  const plans = await json("plans", "list");
  expect(plans.slice(0, 3)).toEqual([
    { plan: "free", perMinute: 60, perDay: 1000 },
    { plan: "pro", perMinute: 300, perDay: 10_000 },
    { plan: "business", perMinute: 1000, perDay: 100_000 },
  ]);
  expect(plans[3]).toMatchObject({ plan: "enterprise" });
  const { stdout } = await run("plans", "list");
  expect(stdout.split("\n")[0]).toMatch(/^plan +perMinute +perDay$/);
  expect(stdout).toMatch(/^enterprise +as agreed +as agreed$/m);
});

test("for machines a plan's number is a number or not there", async () => {
  for (const { perMinute, perDay } of await json("plans", "list"))
    for (const number of [perMinute, perDay]) expect(["number", "undefined"]).toContain(typeof number);
});
