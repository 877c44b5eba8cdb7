// What nginx does in front of the instances, with the configuration of deploy/.
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { LARGE_BODY_BYTES } from "../src/http/body.ts";
import { HEARTBEAT_MS } from "../src/http/streams.ts";
import { IDLE_SECONDS } from "../src/http/wire/connection.ts";
import { BOUNDS } from "../src/store/sqlite/writer.ts";
import { eventually } from "./cli/command.ts";
import { kubernetes, nginxConf, the } from "./deployed.ts";
import { follow } from "./following.ts";
import { instances } from "./scaled/instances.ts";
import { aNginx, testedConfiguration } from "./servers/nginx.ts";
import { aDoor } from "./servers/proxy.ts";

/** How late nginx may write its line. */
const LOGGED_MS = 5000;

test("nginx takes its configuration", async () => {
  expect(await testedConfiguration(["http://127.0.0.1:1", "http://127.0.0.1:2"])).toMatchObject({ code: 0 });
});

test("nginx waits longer than a server does, and lets idle connections go before a server does", () => {
  const seconds = (name: string, indent: string) =>
    Number(the(nginxConf, new RegExp(`^${indent}${name} (\\d+)s;$`)));
  expect(seconds("proxy_read_timeout", "  ") * 1000).toBeGreaterThan(BOUNDS.deadlineMs);
  expect(seconds("keepalive_timeout", "    ")).toBeLessThan(IDLE_SECONDS);
  expect(Number(the(nginxConf, /client_max_body_size (\d+)m;$/)) * 1024 * 1024).toBe(LARGE_BODY_BYTES);
  const { annotations } = kubernetes("ingress.example").metadata;
  expect(annotations["nginx.ingress.kubernetes.io/proxy-body-size"]).toBe("8m");
  expect(Number(annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"]) * 1000).toBeGreaterThan(
    BOUNDS.deadlineMs,
  );
});

test("through nginx both instances are asked, and hear the request's id and the caller's address", async () => {
  await using shop = await instances(2, { TRUST_PROXY: "1" });
  await using nginx = await aNginx(shop.urls);
  const get = (headers: Record<string, string>) => fetch(`${nginx.url}/pets`, { headers });
  for (let n = 0; n < 4; n++) expect((await get({ "x-api-key": shop.key })).status).toBe(200);
  const logged = (isTold: (lines: Record<string, unknown>[]) => boolean) =>
    eventually(() => isTold(nginx.requests()), LOGGED_MS);
  expect(await logged((lines) => new Set(lines.map((line) => line.instances)).size === 2)).toBe(true);

  const mine = await get({ "x-api-key": shop.key, "x-request-id": "mine-1" });
  expect(mine.headers.get("x-request-id")).toBe("mine-1");
  const given = await get({ "x-api-key": shop.key });
  const id = given.headers.get("x-request-id");
  expect(id).toBeTruthy();
  expect(await logged((lines) => lines.some((line) => line.requestId === id))).toBe(true);

  // Whatever a caller says of itself, it is counted by where nginx heard it from: both instances see one address.
  const lefts: number[] = [];
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]) {
    const { headers } = await get({ "x-forwarded-for": address });
    lefts.push(Number(headers.get("x-ratelimit-remaining")));
  }
  expect(Math.min(...lefts)).toBeLessThanOrEqual(58);
  expect(JSON.stringify(nginx.requests())).not.toContain(shop.key);
});

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { code: string }).code;
}

test("events come through nginx as they happen, and it allows more silence than a stream has", async () => {
  await using shop = await instances(2, { TRUST_PROXY: "1" });
  await using nginx = await aNginx(shop.urls);
  await using stream = await follow(nginx.url, shop);
  const made = await shop.send("POST", "/categories", { name: "Dogs" });
  const { id } = (await made.json()) as { id: number };
  const [event] = await stream.events(1);
  expect(event?.data.subject).toBe(`categories/${id}`);
  const { annotations } = kubernetes("ingress.example").metadata;
  for (const seconds of [
    Number(the(nginxConf, /^ {2}proxy_read_timeout (\d+)s;$/)),
    Number(annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"]),
  ])
    expect(seconds * 1000).toBeGreaterThan(HEARTBEAT_MS);
});

test("what nginx refuses by itself is an Error of the API", async () => {
  await using shop = await instances(1);
  await using nginx = await aNginx(shop.urls);
  const post = (bytes: number) =>
    fetch(`${nginx.url}/pets/batch`, {
      method: "POST",
      headers: { "x-api-key": shop.key, "content-type": "application/json" },
      body: new Uint8Array(bytes).fill(0x20),
    });
  const atLimit = await post(LARGE_BODY_BYTES);
  expect([atLimit.status, await codeOf(atLimit)]).toEqual([400, "invalid_json"]);
  const beyond = await post(LARGE_BODY_BYTES + 1);
  expect([beyond.status, await codeOf(beyond)]).toEqual([413, "body_too_large"]);

  const figures = await fetch(`${nginx.url}/metrics`, { headers: { "x-api-key": shop.key } });
  expect([figures.status, await codeOf(figures)]).toEqual([404, "not_found"]);

  await using nobody = await aNginx(["http://127.0.0.1:1"]);
  const away = await fetch(`${nobody.url}/pets`);
  expect([away.status, await codeOf(away)]).toEqual([503, "unavailable"]);
  expect(away.headers.get("retry-after")).toBe("1");
});

test("what nginx cannot take for one request is refused in the words of the API, and no page of its own is seen", async () => {
  await using shop = await instances(1);
  await using nginx = await aNginx(shop.urls);
  const head = "Host: shop\r\nConnection: close\r\n";
  const long = "a".repeat(40_000);
  const malformed = { status: 400, code: "malformed_request" };
  const unknown = { status: 405, code: "method_not_allowed" };
  const expected: Record<string, { status: number; code: string }> = {
    "hello\r\n\r\n": malformed,
    "GET /pets HTTP/1.1\r\nConnection: close\r\n\r\n": malformed,
    [`GET /pets HTTP/1.1\r\n${head}no header\r\n\r\n`]: malformed,
    [`GET /%zz HTTP/1.1\r\n${head}\r\n`]: malformed,
    [`GET /pets HTTP/3.0\r\n${head}\r\n`]: malformed,
    [`POST /pets HTTP/1.1\r\n${head}Transfer-Encoding: gzip\r\n\r\n`]: malformed,
    [`POST /pets HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nno length\r\n`]: malformed,
    [`TRACE /pets HTTP/1.1\r\n${head}\r\n`]: unknown,
    [`CONNECT /pets HTTP/1.1\r\n${head}\r\n`]: unknown,
    [`GET /pets?name=${long} HTTP/1.1\r\n${head}\r\n`]: { status: 414, code: "uri_too_long" },
    [`GET /pets HTTP/1.1\r\n${head}X-Long: ${long}\r\n\r\n`]: { status: 431, code: "headers_too_large" },
    [`GET /.malformed HTTP/1.1\r\n${head}\r\n`]: { status: 404, code: "not_found" },
  };
  for (const [request, { status, code }] of Object.entries(expected)) {
    const [headers = "", text = ""] = (await answered(nginx.url, request)).split("\r\n\r\n");
    expect({ request, told: Number(headers.split(" ")[1]), ...JSON.parse(text) }).toEqual({
      request,
      told: status,
      code,
      message: expect.any(String),
      status,
    });
    expect(headers).toMatch(/\r\ncontent-type: application\/json\r\n/i);
    expect(headers).toMatch(/\r\nx-request-id: \S+/i);
  }
});

/** All that comes until the other side hangs up. */
async function answered(url: string, request: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  socket.write(request);
  let text = "";
  for await (const chunk of socket) text += chunk;
  return text;
}

test("an instance that is gone is noticed by nobody who reads, posts or sends a key", async () => {
  await using shop = await instances(1);
  const send = async (url: string, method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method,
      ...(method !== "GET" && { body: JSON.stringify({ name: "Dogs" }) }),
      headers: { "x-api-key": shop.key, "content-type": "application/json", ...headers },
    });
    await response.text();
    return response.status;
  };
  for (const [method, path, headers, expected] of [
    ["GET", "/pets", {}, 200],
    ["POST", "/categories", {}, 201],
    ["PUT", "/categories/1", { "idempotency-key": "put-once" }, 200],
  ] as const) {
    // A new nginx each time, because one failure is enough for it to leave an instance alone.
    await using nginx = await aNginx(["http://127.0.0.1:1", ...shop.urls]);
    for (let n = 0; n < 2; n++) expect(await send(nginx.url, method, path, headers)).toBe(expected);
    expect(nginx.requests().some((line) => String(line.instances).includes(", "))).toBe(true);
  }
});

test("a write that an instance did without answering is not sent to another, unless it has an Idempotency-Key", async () => {
  await using shop = await instances(2);
  const { id } = (await (await shop.send("POST", "/categories", { name: "Dogs" })).json()) as { id: number };
  const pets = async () => ((await (await shop.send("GET", "/pets?limit=100")).json()) as unknown[]).length;
  /** Two writes through nginx, while one instance is cut off after it did what it was sent; the statuses. */
  const cut = async (method: string, path: string, body: unknown, idempotencyKey?: string) => {
    const [first = "", second = ""] = shop.urls;
    await using door = await aDoor(Number(new URL(first).port));
    door.cutAfter(`${method} ${path}`);
    await using nginx = await aNginx([`http://127.0.0.1:${door.port}`, second]);
    const statuses: number[] = [];
    for (const n of [1, 2]) {
      const headers = {
        "x-api-key": shop.key,
        "content-type": "application/json",
        ...(idempotencyKey !== undefined && { "idempotency-key": `${idempotencyKey}-${n}` }),
      };
      const response = await fetch(nginx.url + path, { method, body: JSON.stringify(body), headers });
      await response.text();
      statuses.push(response.status);
    }
    return statuses.toSorted();
  };
  const pet = { name: "Rex", categoryId: id };
  expect(await cut("POST", "/pets", pet)).toEqual([201, 503]);
  expect(await pets()).toBe(2);
  expect(await cut("POST", "/pets", pet, "once")).toEqual([201, 201]);
  expect(await pets()).toBe(4);
  expect(await cut("PUT", `/categories/${id}`, { name: "Cats" })).toEqual([200, 503]);
  expect(await cut("PUT", `/categories/${id}`, { name: "Cats" }, "put")).toEqual([200, 200]);
});
