import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import { adminKey, aFolder, eventually, type Folder, petstore, serving } from "./command.ts";

const TIME_LIMIT_MS = 20_000;
/** What a stop leaves: the log and its index are gone. */
const ONE_FILE = ["admin.key", "console.link", "petstore.db", "petstore.db-lock"];

test.each([["SIGTERM"], ["SIGINT"], ["SIGHUP"]] as const)(
  "%s: a request whose body is still coming is answered, then the server ends with 0 and the database is one file",
  async (signal) => {
    using folder = aFolder();
    await using server = await serving({ database: folder.database });
    const body = JSON.stringify({ name: "Slow dogs" });
    using slow = await aConnection(server.url);
    slow.send(
      `POST /categories HTTP/1.1\r\nHost: x\r\nX-API-Key: ${adminKey(folder)}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    // Once a later request is answered, the earlier one has surely begun.
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    const ended = server.end(signal);
    expect(await eventually(() => isClosed(server.url), 3000)).toBe(true);
    slow.send(body.slice(5));
    expect(await ended).toBe(0);
    expect(slow.received()).toMatch(/^HTTP\/1.1 201 /);
    expect(slow.received()).toContain('"name":"Slow dogs"');
    expect(filesOf(folder)).toEqual(ONE_FILE);

    await using again = await serving({ database: folder.database });
    const kept = await fetch(`${again.url}/categories`, { headers: { "x-api-key": adminKey(folder) } });
    expect(await kept.json()).toMatchObject([{ name: "Slow dogs" }]);
    const log = server.stdout().trimEnd().split("\n");
    expect(log.filter((line) => line.includes('"/categories"'))).toHaveLength(1);
  },
  TIME_LIMIT_MS,
);

test(
  "orders under way when the signal comes are answered, and every answered one is kept",
  async () => {
    using folder = aFolder();
    await using server = await serving({ database: folder.database, env: { LOG_LEVEL: "silent" } });
    const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
    let placed = 0;
    let lost = 0;
    let isStopping = false;
    const buyer = async () => {
      while (!isStopping) {
        try {
          const response = await fetch(`${server.url}/store/orders`, { method: "POST", headers, body: "{}" });
          await response.text();
          if (response.status === 201) placed += 1;
          else lost += 1;
        } catch {
          // Refused after the signal: the server no longer listens.
          return;
        }
      }
    };
    const buyers = Array.from({ length: 20 }, buyer);
    expect(await eventually(() => placed > 200, 5000)).toBe(true);
    const code = await server.end("SIGTERM");
    isStopping = true;
    await Promise.all(buyers);
    expect({ code, lost, files: filesOf(folder) }).toEqual({ code: 0, lost: 0, files: ONE_FILE });

    const doctor = await petstore(["doctor", "--json"], { env: { DATABASE_URL: folder.database } });
    const { counts, findings } = JSON.parse(doctor.stdout);
    expect(findings).toEqual([]);
    expect(counts.orders).toBeGreaterThanOrEqual(placed);
    expect(counts.orders).toBeLessThanOrEqual(placed + 20);
  },
  TIME_LIMIT_MS,
);

test(
  "told to drain, a server that stops is not ready but answers on, each time the last on a connection, and then ends",
  async () => {
    using folder = aFolder();
    const env = { SHUTDOWN_DRAIN_SECONDS: "1" };
    await using server = await serving({ database: folder.database, env });
    const ask = async (path: string) => {
      const response = await fetch(server.url + path, { headers: { "x-api-key": adminKey(folder) } });
      await response.text();
      return { status: response.status, connection: response.headers.get("connection") };
    };
    expect(await ask("/pets")).toEqual({ status: 200, connection: null });
    const since = performance.now();
    const ended = server.end("SIGTERM");
    expect(await eventually(async () => (await ask("/readyz")).status === 503, 900)).toBe(true);
    expect(await ask("/pets")).toEqual({ status: 200, connection: "close" });
    expect(await ended).toBe(0);
    expect(performance.now() - since).toBeGreaterThan(990);
    expect(await isClosed(server.url)).toBe(true);
  },
  TIME_LIMIT_MS,
);

test("under nohup the end of the terminal stops nothing", async () => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database, under: ["nohup"] });
  process.kill(server.pid, "SIGHUP");
  for (let n = 0; n < 5; n++) expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect(await server.end("SIGTERM")).toBe(0);
  expect(server.stdout().match(/"stopping"/g)).toHaveLength(1);
});

test("a connection that is open and idle does not hold up the end", async () => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database });
  using idle = await aConnection(server.url);
  idle.send("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
  expect(await eventually(() => idle.received().includes("200 OK"), 2000)).toBe(true);
  const since = performance.now();
  expect(await server.end("SIGTERM")).toBe(0);
  expect(performance.now() - since).toBeLessThan(2000);
});

test("a request that never ends holds up the end for no longer than it was set to", async () => {
  using folder = aFolder();
  await using server = await serving({ database: folder.database, env: { SHUTDOWN_SECONDS: "1" } });
  using stuck = await aConnection(server.url);
  stuck.send(
    `POST /categories HTTP/1.1\r\nHost: x\r\nX-API-Key: ${adminKey(folder)}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  );
  expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  const since = performance.now();
  expect(await server.end("SIGTERM")).toBe(0);
  expect(performance.now() - since).toBeGreaterThan(900);
  expect(performance.now() - since).toBeLessThan(4000);
  expect(filesOf(folder)).toEqual(ONE_FILE);
});

interface RawConnection extends Disposable {
  send(text: string): void;
  received(): string;
}

/** A connection on which a test decides when each byte is sent. */
function aConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = "";
    const socket: Socket = connect(Number(port), hostname, () =>
      resolve({
        send: (text) => void socket.write(text),
        received: () => received,
        [Symbol.dispose]: () => socket.destroy(),
      }),
    );
    socket.on("data", (chunk) => {
      received += chunk.toString();
    });
    socket.on("error", reject);
  });
}

function isClosed(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.destroy();
      resolve(false);
    });
    socket.on("error", () => resolve(true));
  });
}

function filesOf({ database }: Folder): string[] {
  return readdirSync(dirname(database)).sort();
}
