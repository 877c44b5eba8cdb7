import { afterAll, beforeAll, expect, test } from "bun:test";
import { problemsOf } from "../../src/contract/shape.ts";
import { ErrorBody } from "../../src/contract/shapes.ts";
import { URL_CHARACTERS } from "../../src/http/handle.ts";
import { HEAD_BYTES, HEADERS_BYTES } from "../../src/http/wire/head.ts";
import { aStore, type TestStore } from "../harness.ts";
import { type Answered, asked, aWire, loggedRequests, told } from "./wire.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

/** What is said must be refused with this code and status, leave nothing behind, and be the last that is listened to. */
async function refusal(said: string | Buffer, status: number, code: string): Promise<Answered> {
  const smuggled = told(store.staff, "POST /categories", { name: "Smuggled" });
  const before = await store.snapshot();
  const logged = loggedRequests(store).length;
  using wire = await aWire(store.url);
  wire.say(
    Buffer.concat([typeof said === "string" ? Buffer.from(said, "latin1") : said, Buffer.from(smuggled)]),
  );
  const answer = await wire.answer();
  expect([answer.status, answer.body?.code]).toEqual([status, code]);
  expect(await wire.rest()).toEqual([]);
  expect(problemsOf(ErrorBody, answer.body)).toEqual([]);
  expect(answer.headers.get("connection")).toBe("close");
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("api-version")).toBe("1.0.0");
  const lines = loggedRequests(store).slice(logged);
  const requestId = answer.headers.get("x-request-id");
  expect(lines).toMatchObject([{ status, code, requestId }]);
  expect(requestId).toMatch(/^\S+$/);
  expect(await store.snapshot()).toBe(before);
  return answer;
}

/** A request whose every other line is as it must be, and complete: what is wrong with it is all that is wrong. */
const lines = (...each: string[]) => `${each.join("\r\n")}\r\n\r\n`;
const get = "GET /livez HTTP/1.1";
const post = "POST /categories HTTP/1.1";
const host = "Host: x";
const chunks = "0\r\n\r\n";

const malformed: Record<string, string | Buffer> = {
  // Where a body ends.
  "a length and chunks": lines(post, host, "Content-Length: 5", "Transfer-Encoding: chunked") + chunks,
  "chunks and a length": lines(post, host, "Transfer-Encoding: chunked", "Content-Length: 5") + chunks,
  "chunks and no length to speak of": lines(post, host, "Transfer-Encoding: chunked", "Content-Length:"),
  "two lengths": lines(post, host, "Content-Length: 0", "Content-Length: 5"),
  "the same length twice": lines(post, host, "Content-Length: 0", "Content-Length: 0"),
  "a length with a plus": lines(post, host, "Content-Length: +0"),
  "a length with a minus": lines(post, host, "Content-Length: -0"),
  "a length with a space": lines(post, host, "Content-Length: 1 0"),
  "a length in hex": lines(post, host, "Content-Length: 0x0"),
  "a list of lengths": lines(post, host, "Content-Length: 0, 0"),
  "a length with a fraction": lines(post, host, "Content-Length: 0.0"),
  "a length with an exponent": lines(post, host, "Content-Length: 0e1"),
  "an empty length": lines(post, host, "Content-Length:"),
  "a length in quotes": lines(post, host, 'Content-Length: "0"'),
  "a length in other digits": Buffer.from(lines(post, host, "Content-Length: \u0660")),
  "a length past 64 bits": lines(post, host, "Content-Length: 18446744073709551616"),
  "a length with a vertical tab": lines(post, host, "Content-Length:\v0"),
  "the coding identity": lines(post, host, "Transfer-Encoding: identity"),
  "the coding gzip": lines(post, host, "Transfer-Encoding: gzip, chunked") + chunks,
  "the coding xchunked": lines(post, host, "Transfer-Encoding: xchunked") + chunks,
  "chunked that is not last": lines(post, host, "Transfer-Encoding: chunked, identity") + chunks,
  "chunked twice": lines(post, host, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + chunks,
  "chunked in quotes": lines(post, host, 'Transfer-Encoding: "chunked"') + chunks,
  "chunked with a parameter": lines(post, host, "Transfer-Encoding: chunked;q=1") + chunks,
  "chunked with a comma": lines(post, host, "Transfer-Encoding: ,chunked") + chunks,
  "no coding": lines(post, host, "Transfer-Encoding:"),
  "chunked with a vertical tab": lines(post, host, "Transfer-Encoding:\vchunked") + chunks,
  "chunks of HTTP/1.0": lines("POST /categories HTTP/1.0", host, "Transfer-Encoding: chunked") + chunks,
  // Headers.
  "a folded header": lines(get, host, "X-Long: a", " b"),
  "a header folded with a tab": lines(get, host, "X-Long: a", "\tb"),
  "a folded first header": lines(get, ` ${host}`, host),
  "a coding folded away": lines(post, host, "X: y", " Transfer-Encoding: chunked"),
  "a space before a colon": lines(get, host, "Content-Length : 0"),
  "a tab before a colon": lines(get, host, "Content-Length\t: 0"),
  "a header without a colon": lines(get, host, "Nothing"),
  "a header without a name": lines(get, host, ": nothing"),
  "a space within a name": lines(get, host, "Content Length: 0"),
  "a name that is no token": lines(get, host, "X(y): z"),
  "a name in other letters": lines(get, host, "X-\xe9: z"),
  "a line feed alone behind a header": lines(get, `${host}\nContent-Length: 5`),
  "a line feed alone behind the first line": lines(`${get}\nX: y`, host),
  "line feeds alone before the end": `${get}\r\n${host}\n\nGET /livez HTTP/1.1\r\n${host}\r\n\r\n`,
  "a carriage return alone within a header": lines(get, host, "X: y\rz"),
  "a carriage return alone behind a header": lines(get, host, "X: y\rContent-Length: 5"),
  "a carriage return too many": lines(get, host, "X: y\r"),
  "a NUL within a header": lines(get, host, "X: y\0z"),
  "a NUL within a name": lines(get, host, "X\0: y"),
  "a control character within a header": lines(get, host, "X: y\x01z"),
  "a DEL within a header": lines(get, host, "X: y\x7fz"),
  // Host.
  "no Host": lines(get, "X: y"),
  "no header at all": lines(get),
  "two Hosts": lines(get, host, "Host: y"),
  "the same Host twice": lines(get, host, host),
  "a Host with a path": lines(get, "Host: x/pets"),
  "a Host with a user": lines(get, "Host: me@x"),
  "a Host with a space": lines(get, "Host: x y"),
  "a list of Hosts": lines(get, "Host: x,y"),
  "a Host with a query": lines(get, "Host: x?y"),
  // The first line.
  "a greeting of HTTP/2": `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
  "HTTP/2": lines("GET /livez HTTP/2", host),
  "HTTP/1.2": lines("GET /livez HTTP/1.2", host),
  "HTTP/0.9 with its name": lines("GET /livez HTTP/0.9", host),
  "HTTP/0.9": lines("GET /livez"),
  "HTTP/1.10": lines("GET /livez HTTP/1.10", host),
  "HTTP/01.1": lines("GET /livez HTTP/01.1", host),
  "http in small letters": lines("GET /livez http/1.1", host),
  "another protocol": lines("GET /livez ICE/1.1", host),
  "a tab behind the method": lines("GET\t/livez HTTP/1.1", host),
  "a tab behind the address": lines("GET /livez\tHTTP/1.1", host),
  "two spaces behind the method": lines("GET  /livez HTTP/1.1", host),
  "two spaces behind the address": lines("GET /livez  HTTP/1.1", host),
  "a space behind the version": lines("GET /livez HTTP/1.1 ", host),
  "a space before the method": lines(" GET /livez HTTP/1.1", host),
  "no address": lines("GET HTTP/1.1", host),
  "an empty address": lines("GET  HTTP/1.1", host),
  "no method": lines("/livez HTTP/1.1", host),
  "a space within the address": lines("GET /livez x HTTP/1.1", host),
  "a NUL within the address": lines("GET /livez\0 HTTP/1.1", host),
  "a carriage return within the address": lines("GET /livez\rx HTTP/1.1", host),
  "a line feed within the address": lines("GET /livez\nx HTTP/1.1", host),
  "a DEL within the address": lines("GET /livez\x7f HTTP/1.1", host),
  "an address that is no UTF-8": lines("GET /pets?name=\xff HTTP/1.1", host),
  "a relative address": lines("GET livez HTTP/1.1", host),
  "an address of another scheme": lines("GET ftp://x/livez HTTP/1.1", host),
  "an address without a host": lines("GET http:///livez HTTP/1.1", host),
  "an address with an odd host": lines("GET http://a|b/livez HTTP/1.1", host),
  "an address with a user": lines("GET http://me@x/livez HTTP/1.1", host),
  "an address with a fragment for a path": lines("GET http://x#livez HTTP/1.1", host),
  "a method that is no token": lines("GE(T /livez HTTP/1.1", host),
  "a method in quotes": lines('"GET" /livez HTTP/1.1', host),
  "a carriage return before the method": `\r${lines(get, host)}`,
  "a line feed before the method": `\n${lines(get, host)}`,
  // No HTTP at all.
  "a hello of TLS": Buffer.from("16030100a5010000a10303", "hex"),
  "a greeting of PostgreSQL": Buffer.from("0000000804d2162f", "hex"),
  "a greeting of SOCKS": Buffer.from("050100", "hex"),
  "a greeting of SMTP": "EHLO x\r\n\r\n",
  "a mark of byte order": Buffer.from(`\ufeff${lines(get, host)}`),
  zeros: Buffer.alloc(100),
};

test.each(Object.entries(malformed))("%s is refused, and nothing behind it is looked at", async (_, said) => {
  const { body } = await refusal(said, 400, "malformed_request");
  expect(body.message).toMatch(/\.$/);
});

test("what is malformed behind a request is refused behind its answer", async () => {
  using wire = await aWire(store.url);
  const order = told(store.customer, "POST /store/orders", {});
  wire.say(order + asked(store.customer, "GET /pets") + lines(get, host, "Content-Length: x") + order);
  const answers = await wire.rest();
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 400]);
});

test("headers of 16 KiB are taken, and a byte more is not", async () => {
  const least = asked(store.customer, "GET /livez", "X-Long: ").length - `${get}\r\n`.length;
  const long = (bytes: number, line = "GET /livez") =>
    asked(store.customer, line, `X-Long: ${"x".repeat(bytes - least)}`);
  using wire = await aWire(store.url);
  // The empty line that ends them is not counted, nor is the request line.
  wire.say(long(HEADERS_BYTES + 2));
  wire.say(long(HEADERS_BYTES + 2, `GET /livez?${"x".repeat(URL_CHARACTERS - 7)}`));
  expect((await wire.answers(2)).map(({ status }) => status)).toEqual([200, 200]);
  await refusal(long(HEADERS_BYTES + 3), 431, "headers_too_large");
  await refusal(long(HEADERS_BYTES * 4), 431, "headers_too_large");
  await refusal(lines(get, host, ...new Array(9000).fill("X: y")), 431, "headers_too_large");
});

test("an address without an end is told to be too long, not its headers", async () => {
  for (const characters of [HEAD_BYTES, 30_000, 200_000])
    await refusal(lines(`GET /livez?${"x".repeat(characters)} HTTP/1.1`, host), 414, "uri_too_long");
  await refusal(
    lines(`GET /livez?${"x".repeat(20_000)} HTTP/1.1`, host, `X: ${"x".repeat(9000)}`),
    414,
    "uri_too_long",
  );
});

test("empty lines without an end are no request, and cost nobody anything", async () => {
  const before = loggedRequests(store).length;
  using wire = await aWire(store.url);
  for (let each = 0; each < 100; each++) {
    wire.say("\r\n".repeat(HEAD_BYTES));
    await Bun.sleep(0);
  }
  wire.say(asked(store.customer, "GET /livez"));
  expect((await wire.answer()).status).toBe(200);
  expect(loggedRequests(store)).toHaveLength(before);
});
