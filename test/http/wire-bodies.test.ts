import { afterAll, beforeAll, expect, test } from "bun:test";
import { BODY_BYTES } from "../../src/http/body.ts";
import { aStore, type TestStore } from "../harness.ts";
import { asked, aWire, inChunks, told } from "./wire.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore({ ANONYMOUS_PER_MINUTE: "1000" });
});
afterAll(() => store.stop());

test("a body may come in packets of its own, and the next request with its last", async () => {
  const { categoryId } = await store.aPet();
  const pets = Array.from({ length: 50 }, (_, each) => ({ name: `Pup ${each} \u{1f415}`, categoryId }));
  const request = Buffer.from(told(store.staff, "POST /pets/batch", pets));
  const next = Buffer.from(asked(store.customer, `GET /pets?limit=100&categoryId=${categoryId}`));
  const both = Buffer.concat([request, next]);
  using wire = await aWire(store.url);
  const start = request.indexOf("\r\n\r\n") + 4;
  wire.say(both.subarray(0, start));
  for (let at = start; at < request.length; at += 50) {
    await Bun.sleep(0);
    const isLast = at + 50 >= request.length;
    wire.say(both.subarray(at, isLast ? both.length : at + 50));
  }
  const [made, listed] = await wire.answers(2);
  expect([made?.status, listed?.status]).toEqual([201, 200]);
  const names = listed?.body.map(({ name }: { name: string }) => name);
  expect(names).toEqual(["Rex", ...pets.map(({ name }) => name)]);
});

test("what comes in chunks is kept, whatever is said beside them", async () => {
  const { id } = await store.aPet(3);
  using wire = await aWire(store.url);
  const order = JSON.stringify({ petId: id, quantity: 1 });
  const half = order.slice(0, 8);
  const rest = order.slice(8);
  const bodies = [
    [`${order.length.toString(16)}\r\n${order}\r\n`, "0\r\n\r\n"],
    [
      `8;part=first\r\n${half}\r\n`,
      `${rest.length.toString(16)};a="b; \\"c";d=e\r\n${rest}\r\n`,
      "0;end\r\n\r\n",
    ],
    [`000${order.length.toString(16).toUpperCase()}\r\n${order}\r\n`, "000\r\nDigest: none\r\nX: y\r\n\r\n"],
  ];
  for (const [each, chunks] of bodies.entries()) {
    const request = inChunks(store.customer, "POST /store/orders", ...chunks);
    if (each === 1) await wire.sayBytewise(request);
    else wire.say(request);
    wire.say(asked(store.customer, `GET /store/inventory/${id}`));
    const [placed, stock] = await wire.answers(2);
    expect([placed?.status, placed?.body.petId, stock?.body.quantity]).toEqual([201, id, 2 - each]);
  }
});

test("a body in chunks of a byte each is kept whole", async () => {
  const { categoryId } = await store.aPet();
  const pets = Array.from({ length: 200 }, (_, each) => ({
    name: `Dachshund ${each} \u{1f415}`,
    categoryId,
  }));
  const bytes = Buffer.from(JSON.stringify(pets)).toString("latin1");
  const chunks = Array.from(bytes, (byte) => `1\r\n${byte}\r\n`);
  using wire = await aWire(store.url);
  wire.say(Buffer.from(inChunks(store.staff, "POST /pets/batch", ...chunks, "0\r\n\r\n"), "latin1"));
  const { status, body } = await wire.answer();
  expect(status).toBe(201);
  expect(body).toMatchObject(pets);
});

test("a body that its caller asks about first is asked for when it is wanted, and once", async () => {
  const request = told(store.staff, "POST /categories", { name: "Asked" }, "Expect: 100-Continue");
  const [head, body] = request.split(/(?<=\r\n\r\n)/) as [string, string];
  using wire = await aWire(store.url);
  wire.say(head);
  const { status, headers } = await wire.answer();
  expect([status, [...headers]]).toEqual([100, []]);
  wire.say(body);
  expect((await wire.answer()).status).toBe(201);
  // Who does not wait for the word needs none.
  wire.say(request + asked(store.customer, "GET /categories"));
  const answers = await wire.answers(2);
  expect(answers.map(({ status: each }) => each)).toEqual([201, 200]);
});

test("a caller of HTTP/1.0 is not told to go on, which it would take for its answer", async () => {
  const request = told(store.staff, "POST /categories", { name: "Old" }, "Expect: 100-continue");
  const [head, body] = request.replace("HTTP/1.1", "HTTP/1.0").split(/(?<=\r\n\r\n)/) as [string, string];
  using wire = await aWire(store.url);
  wire.say(head);
  // Once a later request is answered, the earlier one has surely begun.
  expect((await store.customer.get("/categories")).status).toBe(200);
  wire.say(body);
  expect((await wire.rest()).map(({ status }) => status)).toEqual([201]);
});

test("a caller that will be refused is not asked for its body", async () => {
  const before = await store.snapshot();
  const category = { name: "Refused" };
  const expecting = (request: string) => request.replace(/\r\n\r\n.*$/s, "\r\nExpect: 100-continue\r\n\r\n");
  const large = asked(store.staff, "POST /categories", `Content-Length: ${BODY_BYTES + 1}`);
  const cases: [string, number][] = [
    [told(store.nobody, "POST /categories", category), 401],
    [told(store.customer, "POST /categories", category), 403],
    [told(store.staff, "POST /nothing", category), 404],
    [told(store.staff, "DELETE /categories", category), 405],
    [told(store.staff, "POST /categories", category, "API-Version: 7"), 400],
    [large, 413],
    [large.replace("\r\n\r\n", "\r\nContent-Type: text/plain\r\n\r\n"), 413],
    [told(store.staff, "POST /categories", category, "Content-Encoding: gzip"), 415],
    [told(store.staff, "POST /categories", category).replace("application/json", "text/plain"), 415],
    [inChunks(store.staff, "POST /categories").replace("application/json", "text/plain"), 415],
  ];
  for (const [request, status] of cases) {
    using wire = await aWire(store.url);
    wire.say(expecting(request));
    const answers = await wire.rest();
    expect(answers.map((each) => [each.status, each.headers.get("connection")])).toEqual([[status, "close"]]);
  }
  expect(await store.snapshot()).toBe(before);
});

test("a body of the wrong kind is not waited for", async () => {
  for (const wrong of [
    "Content-Type: text/plain",
    "Content-Type: application/json\r\nContent-Encoding: gzip",
  ]) {
    using wire = await aWire(store.url);
    wire.say(`${asked(store.customer, "POST /store/orders", wrong, "Content-Length: 20")}{`);
    expect((await wire.answer()).body.code).toBe("unsupported_media_type");
    // The rest of it is read over, and the connection goes on.
    wire.say(" ".repeat(19) + asked(store.customer, "GET /pets"));
    expect((await wire.answer()).status).toBe(200);
  }
});

test("the small body of a refused request is read over, and the connection goes on", async () => {
  const before = await store.snapshot();
  const smuggled = asked(store.staff, "DELETE /categories/1");
  using wire = await aWire(store.url);
  const alive = asked(store.customer, "GET /categories");
  const length = `Content-Length: ${smuggled.length}`;
  const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
  for (const request of [
    asked(store.nobody, "POST /categories", length) + smuggled,
    asked(store.customer, "POST /categories", length) + smuggled,
    asked(store.customer, "GET /nothing", length) + smuggled,
    inChunks(store.customer, "POST /categories", chunked),
  ]) {
    wire.say(request + alive);
    const [refused, next] = await wire.answers(2);
    expect([401, 403, 404]).toContain(refused?.status as number);
    expect(refused?.headers.get("connection")).toBeNull();
    expect(next?.status).toBe(200);
  }
  // The rest of it may come after the refusal.
  wire.say(asked(store.nobody, "POST /categories", length) + smuggled.slice(0, 9));
  expect((await wire.answer()).status).toBe(401);
  await wire.sayBytewise(smuggled.slice(9));
  wire.say(alive);
  expect((await wire.answer()).status).toBe(200);
  expect(await store.snapshot()).toBe(before);
});

test("behind a large body that nobody read the connection closes, and the refusal arrives whole", async () => {
  const before = await store.snapshot();
  const megabyte = 2 ** 20;
  const smuggled = told(store.staff, "POST /categories", { name: "Smuggled" });
  for (const [by, status] of [
    [store.nobody, 401],
    [store.customer, 403],
    [store.staff, 413],
  ] as const) {
    using wire = await aWire(store.url);
    wire.say(asked(by, "POST /categories", `Content-Length: ${megabyte}`));
    wire.say(Buffer.alloc(megabyte / 2, 0x20));
    wire.say(Buffer.alloc(megabyte / 2, 0x20));
    wire.say(smuggled);
    const answers = await wire.rest();
    expect(answers.map((each) => [each.status, each.headers.get("connection")])).toEqual([[status, "close"]]);
  }
  expect(await store.snapshot()).toBe(before);
});

/** Bodies whose chunks do not tell where they end, and what each does wrong. */
const brokenChunks: readonly [string, string][] = [
  ["a size that is no number", "x\r\n{}\r\n0\r\n\r\n"],
  ["no size", "\r\n{}\r\n0\r\n\r\n"],
  ["a size with 0x", "0x2\r\n{}\r\n0\r\n\r\n"],
  ["a negative size", "-2\r\n{}\r\n0\r\n\r\n"],
  ["a size with a plus", "+2\r\n{}\r\n0\r\n\r\n"],
  ["a size with a space before", " 2\r\n{}\r\n0\r\n\r\n"],
  ["a size with a space behind", "2 \r\n{}\r\n0\r\n\r\n"],
  ["a size with a fraction", "2.0\r\n{}\r\n0\r\n\r\n"],
  ["a size with an underscore", "0_2\r\n{}\r\n0\r\n\r\n"],
  ["a size past 32 bits", "100000002\r\n{}\r\n0\r\n\r\n"],
  ["a size past 64 bits", "10000000000000002\r\n{}\r\n0\r\n\r\n"],
  ["a size line that ends in a line feed", "2\n{}\r\n0\r\n\r\n"],
  ["a carriage return within a size line", "2\r;\r\n{}\r\n0\r\n\r\n"],
  ["a line feed within an extension", "2;x\ny\r\n{}\r\n0\r\n\r\n"],
  ["a NUL within an extension", "2;\0\r\n{}\r\n0\r\n\r\n"],
  ["an extension without a name", "2;\r\n{}\r\n0\r\n\r\n"],
  ["a quote without an end", '2;x="y\r\n{}\r\n0\r\n\r\n'],
  ["an extension without an end", `2;${"x".repeat(2000)}`],
  [
    "extensions that are too long together",
    `${`1;${"x".repeat(900)}\r\n \r\n`.repeat(20)}2\r\n{}\r\n0\r\n\r\n`,
  ],
  ["a chunk longer than it says", "2\r\n{ }\r\n0\r\n\r\n"],
  ["a chunk shorter than it says", "3\r\n{}\r\n0\r\n\r\n"],
  ["a chunk that ends in a line feed", "2\r\n{}\n0\r\n\r\n"],
  ["no line end behind a chunk", "2\r\n{}0\r\n\r\n"],
  ["a trailer without a colon", "2\r\n{}\r\n0\r\nX\r\n\r\n"],
  ["a trailer with a space before its colon", "2\r\n{}\r\n0\r\nX : y\r\n\r\n"],
  ["a folded trailer", "2\r\n{}\r\n0\r\nX: y\r\n z\r\n\r\n"],
  ["a trailer that ends in a line feed", "2\r\n{}\r\n0\r\nX: y\n\r\n\r\n"],
  ["trailers without an end", `2\r\n{}\r\n0\r\n${`X: ${"y".repeat(1000)}\r\n`.repeat(20)}`],
];

test.each(brokenChunks)(
  "a body in chunks with %s is refused, and nothing behind it is looked at",
  async (_, chunks) => {
    const before = await store.snapshot();
    const smuggled = told(store.staff, "POST /categories", { name: "Smuggled" });
    for (const by of [store.customer, store.nobody]) {
      using wire = await aWire(store.url);
      wire.say(inChunks(by, "POST /store/orders", chunks) + smuggled);
      const answers = await wire.rest();
      expect(answers.map(({ headers }) => headers.get("connection"))).toEqual(["close"]);
      const code = by === store.nobody ? "missing_api_key" : "malformed_request";
      expect(answers[0]?.body.code).toBe(code);
    }
    expect(await store.snapshot()).toBe(before);
  },
);

test("a body that ends early is refused, and nothing is kept of it", async () => {
  const before = await store.snapshot();
  const whole = told(store.staff, "POST /categories", { name: "Birds" });
  for (const early of [
    whole.slice(0, -1),
    whole.slice(0, whole.indexOf("{")),
    inChunks(store.staff, "POST /categories", '10\r\n{"name":"Birds"}\r\n'),
    inChunks(store.staff, "POST /categories", '10\r\n{"name":"Birds"}\r\n0\r\n'),
  ]) {
    using wire = await aWire(store.url);
    wire.say(early);
    wire.finish();
    const answers = await wire.rest();
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([[400, "invalid_json"]]);
  }
  expect(await store.snapshot()).toBe(before);
});
