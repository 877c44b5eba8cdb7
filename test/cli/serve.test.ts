import { expect, test } from "bun:test";
import { adminKey, aFolder, eventually, serving } from "./command.ts";

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
