// What the sender does with addresses that strangers chose: names are resolved by the test, connections are real.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Attempt } from "../../src/core/delivering.ts";
import type { FailureReason } from "../../src/core/webhook-ports.ts";
import { guardedSender, type Resolve, type Sent } from "../../src/worker/send.ts";
import { run } from "../cli/command.ts";

const loopback: Resolve = async () => ["127.0.0.1"];
let connections = 0;

function sender(options: { allowPrivate?: boolean; resolve?: Resolve; timeoutMs?: number } = {}) {
  const send = guardedSender({
    allowPrivate: true,
    resolve: loopback,
    userAgent: "Petstore/test",
    ...options,
  });
  return async (url: string, body = "{}") =>
    (await send({
      deliveryId: 1,
      webhookId: 1,
      attempt: 1,
      url,
      headers: { "webhook-id": "7" },
      body,
    } satisfies Attempt)) as Sent;
}

/** A server that does this with every connection once something has come. */
async function listener(
  work: (socket: Socket) => void,
): Promise<Server & AsyncDisposable & { port: number }> {
  const server = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {});
    socket.once("data", () => work(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return Object.assign(server, { port, [Symbol.asyncDispose]: async () => void server.close() });
}

const answering = (text: string) => listener((socket) => void socket.end(text));

let web: Server & AsyncDisposable & { port: number };
beforeAll(async () => {
  web = await answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
});
afterAll(() => web[Symbol.asyncDispose]());

test("a request is a POST of the body with its headers, to the name that it was given", async () => {
  let heard = "";
  await using server = await listener(() => {});
  server.on("connection", (socket) =>
    socket.on("data", (data) => {
      heard += data;
      if (heard.endsWith("{}")) socket.end("HTTP/1.1 204 No Content\r\n\r\n");
    }),
  );
  const sent = await sender()(`http://shop.example:${server.port}/a?b=c`);
  expect(sent).toMatchObject({
    reason: null,
    responseStatus: 204,
    responseBody: "",
    retryAfterSeconds: null,
  });
  expect(heard).toStartWith("POST /a?b=c HTTP/1.1\r\n");
  const lines = heard.toLowerCase().split("\r\n");
  for (const line of [
    `host: shop.example:${server.port}`,
    "webhook-id: 7",
    "content-length: 2",
    "user-agent: petstore/test",
  ])
    expect(lines).toContain(line);
});

const privates = [
  "127.0.0.1",
  "10.1.2.3",
  "169.254.169.254",
  "0.0.0.0",
  "::1",
  "::ffff:127.0.0.1",
  "fd00::1",
  "64:ff9b::7f00:1",
  "100.64.1.1",
  "224.0.0.1",
];

for (const address of privates) {
  test(`${address}: nothing is sent there, by name or by number`, async () => {
    const before = connections;
    const host = address.includes(":") ? `[${address}]` : address;
    const send = sender({ allowPrivate: false, resolve: async () => [address] });
    for (const [name, reason] of [
      ["shop.example", "dns"],
      [host, "private_address"],
    ]) {
      const sent = await send(`https://${name}:${web.port}/`);
      expect([name, sent.reason as string, sent.responseStatus]).toEqual([name, reason, null]);
    }
    expect(connections).toBe(before);
  });
}

test("a protocol is the same in capitals", async () => {
  await using plain = await listener((socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
  const lower = await sender()(`https://localhost:${plain.port}/`);
  const upper = await sender()(`HTTPS://localhost:${plain.port}/`);
  // It speaks no TLS: only who greets it so is told so.
  expect([upper.reason, lower.reason]).toEqual(["tls", "tls"]);
  expect((await sender()(`HTTP://localhost:${plain.port}/`)).responseStatus).toBe(204);
});

test("a name with a private address among public ones is refused whole", async () => {
  const before = connections;
  for (const resolve of [
    async () => ["93.184.215.14", "127.0.0.1"],
    async () => ["127.0.0.1", "2606:4700::1"],
  ])
    expect((await sender({ allowPrivate: false, resolve })(`https://shop.example:${web.port}/`)).reason).toBe(
      "dns",
    );
  expect(connections).toBe(before);
});

test("a name that is known inside alone is answered as one that nobody knows", async () => {
  const told = async (resolve: Resolve) => {
    const { durationMs: _, ...sent } = await sender({ allowPrivate: false, resolve })(
      "https://db.corp.example/",
    );
    return sent;
  };
  const unknown = async () => Promise.reject(Object.assign(new Error(), { code: "DNS_ENOTFOUND" }));
  const answers = [await told(async () => ["10.0.0.7"]), await told(async () => []), await told(unknown)];
  for (const answer of answers) expect(answer).toEqual(answers[0] as typeof answer);
});

test("a name is looked up once, and the connection goes where that led: a second answer changes nothing", async () => {
  const answers = ["127.0.0.1", "127.0.0.99"];
  let lookups = 0;
  const resolve: Resolve = async () => [answers[lookups++] as string];
  const before = connections;
  const sent = await sender({ resolve })(`http://rebinding.example:${web.port}/`);
  expect([sent.responseStatus, lookups, connections]).toEqual([200, 1, before + 1]);
});

test("without encryption nothing is sent where private addresses are not allowed", async () => {
  const before = connections;
  const send = sender({ allowPrivate: false });
  expect((await send(`http://93.184.215.14:${web.port}/`)).reason).toBe("private_address");
  expect(connections).toBe(before);
});

test("a redirect is not followed", async () => {
  const before = connections;
  await using server = await answering(
    `HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:${web.port}/\r\ncontent-length: 0\r\n\r\n`,
  );
  expect(await sender()(`http://shop.example:${server.port}/`)).toMatchObject({
    reason: "redirect",
    responseStatus: 307,
  });
  expect(connections).toBe(before + 1);
});

test("a proxy of the environment is not used", async () => {
  await using proxy = await answering("HTTP/1.1 500 A proxy\r\n\r\n");
  const script = `
    const { guardedSender } = await import(${JSON.stringify(join(import.meta.dir, "../../src/worker/send.ts"))});
    const send = guardedSender({ allowPrivate: true, resolve: async () => ["127.0.0.1"], userAgent: "x" });
    console.log((await send({ url: "http://shop.example:${web.port}/", headers: {}, body: "{}" })).responseStatus);`;
  const address = `http://127.0.0.1:${proxy.port}`;
  const env = { http_proxy: address, HTTP_PROXY: address, https_proxy: address, ALL_PROXY: address };
  const { stdout, stderr } = await run([process.execPath, "--no-install", "-e", script], { env });
  expect([stdout, stderr]).toEqual(["200\n", ""]);
});

const hints = (count: number) =>
  `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(count)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`;

test("a receiver may say some words before its answer", async () => {
  await using server = await listener((socket) => void socket.end(hints(10)));
  expect(await sender()(`http://shop.example:${server.port}/`)).toMatchObject({ responseStatus: 200 });
});

const broken: Readonly<Record<string, [text: string | null, reason: FailureReason]>> = {
  "a receiver that hangs up": [null, "connection_reset"],
  "one that talks something else": ["SSH-2.0-OpenSSH_9.6\r\n\r\n", "invalid_response"],
  "one that does not come to its answer": [hints(100_000), "invalid_response"],
  "one that answers 404": ["HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "status_4xx"],
  "one that answers 500": ["HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n", "status_5xx"],
  "one that is gone": ["HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n", "gone"],
};

for (const [what, [text, reason]] of Object.entries(broken)) {
  test(`${what}: ${reason}`, async () => {
    await using server = await listener((socket) => (text === null ? socket.destroy() : socket.end(text)));
    expect((await sender()(`http://shop.example:${server.port}/`)).reason).toBe(reason);
  });
}

test("a receiver that would change protocols is given up at once, and holds no place for ever", async () => {
  const text = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
  await using server = await listener((socket) => void socket.write(text));
  const sent = await sender({ timeoutMs: 2000 })(`http://shop.example:${server.port}/`);
  expect(sent.reason).toBe("invalid_response");
});

test("nobody there, no such name, a name server that fails", async () => {
  await using server = await listener(() => {});
  server.close();
  expect((await sender()(`http://shop.example:${server.port}/`)).reason).toBe("connection_refused");
  expect((await sender({ resolve: async () => [] })("http://shop.example/")).reason).toBe("dns");
  const failing = async () => Promise.reject(Object.assign(new Error(), { code: "EAI_AGAIN" }));
  expect((await sender({ resolve: failing })("http://shop.example/")).reason).toBe("dns");
});

test("a receiver, or a name server, that says nothing is given up in time", async () => {
  await using server = await listener(() => {});
  const never: Resolve = () => new Promise(() => {});
  for (const resolve of [loopback, never]) {
    const sent = await sender({ resolve, timeoutMs: 200 })(`http://shop.example:${server.port}/`);
    expect(sent.reason).toBe("timeout");
    expect(sent.durationMs).toBeWithin(150, 2000);
  }
});

test("an answer without end is read to its bound, and its status counts", async () => {
  await using server = await listener((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    const pour = () => {
      if (!socket.destroyed) socket.write("é".repeat(50_000), () => setImmediate(pour));
    };
    pour();
  });
  const sent = await sender()(`http://shop.example:${server.port}/`);
  expect([sent.reason, sent.responseStatus, sent.responseBody]).toEqual([null, 200, "é".repeat(1000)]);
});

test("a success whose body breaks off, or never comes, is a success", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf";
  await using breaking = await listener(
    (socket) => void socket.write(head, () => setTimeout(() => socket.destroy(), 20)),
  );
  expect(await sender()(`http://shop.example:${breaking.port}/`)).toMatchObject({
    reason: null,
    responseBody: "half",
  });
  await using waiting = await listener((socket) => void socket.write(head));
  const sent = await sender({ timeoutMs: 300 })(`http://shop.example:${waiting.port}/`);
  expect(sent).toMatchObject({ reason: null, responseStatus: 200, responseBody: "half" });
});

test("what a database cannot keep is not in the text of an answer", async () => {
  const bytes = Buffer.concat([Buffer.from("HTTP/1.1 500 Oh\r\n\r\na\0b"), Buffer.from([0xff, 0xc3])]);
  await using server = await listener((socket) => void socket.end(bytes));
  const { responseBody } = await sender()(`http://shop.example:${server.port}/`);
  expect(responseBody).toBe("a\u{fffd}b\u{fffd}\u{fffd}");
});

test("a certificate that nobody vouches for, or of another name, is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const made = await run(
    `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ${key} -out ${cert} -days 2 -subj /CN=shop.example -addext subjectAltName=DNS:shop.example`.split(
      " ",
    ),
  );
  expect(made.code).toBe(0);
  let requests = 0;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { key: Bun.file(key), cert: Bun.file(cert) },
    fetch: () => {
      requests += 1;
      return new Response();
    },
  });
  expect((await sender()(`https://shop.example:${server.port}/`)).reason).toBe("tls");
  expect((await sender()(`https://shop.example:${web.port}/`)).reason).toBe("tls");
  expect(requests).toBe(0);
  rmSync(folder, { recursive: true });
});
