import { afterAll, beforeAll, expect, test } from "bun:test";
import { aStore, type TestStore } from "../harness.ts";
import { asked, aWire, told } from "./wire.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

test("requests of one packet, reads and writes, are answered one by one in their order", async () => {
  const pet = await store.aPet(5);
  const stock = asked(store.customer, `GET /store/inventory/${pet.id}`);
  const order = told(store.customer, "POST /store/orders", { petId: pet.id, quantity: 2 });
  using wire = await aWire(store.url);
  wire.say(stock + order + stock + order + stock + asked(store.customer, "GET /nothing") + stock);
  const answers = await wire.answers(7);
  expect(answers.map(({ status, body }) => [status, body.quantity ?? body.code])).toEqual([
    [200, 5],
    [201, 2],
    [200, 3],
    [201, 2],
    [200, 1],
    [404, "not_found"],
    [200, 1],
  ]);
});

test("200 requests of one packet have 200 answers, each to its own", async () => {
  const ids = Array.from({ length: 200 }, (_, each) => `piped-${each}`);
  const category = { name: "Piped" };
  using wire = await aWire(store.url);
  wire.say(
    ids
      .map((id, each) =>
        each % 3 === 0
          ? told(store.staff, "POST /categories", category, `X-Request-Id: ${id}`)
          : asked(store.customer, `GET /pets?limit=${1 + (each % 100)}`, `X-Request-Id: ${id}`),
      )
      .join(""),
  );
  const answers = await wire.answers(200);
  expect(answers.map(({ headers }) => headers.get("x-request-id"))).toEqual(ids);
  for (const [each, { status }] of answers.entries()) expect(status).toBe(each % 3 === 0 ? 201 : 200);
});

test("callers who share a connection are told apart, whatever else their headers say", async () => {
  const [customer, staff] = [store.customer.key, store.staff.key];
  const wrong = `${customer.slice(0, -1)}${customer.endsWith("0") ? "1" : "0"}`;
  const host = "Host: shop\r\n";
  const said: [string, number | "customer" | "staff"][] = [
    [`${host}X-API-Key: ${customer}\r\n`, "customer"],
    [`${host}X-API-Key: ${staff}\r\n`, "staff"],
    [`${host}X-API-Key: ${wrong}\r\n`, 401],
    [`${host}X-API-Key: ${customer}\r\n`, "customer"],
    [`${host}X-API-Key: ${customer}, ${staff}\r\n`, 401],
    [`${host}X-API-Key: ${staff}\r\nX-API-Key: ${staff}\r\n`, 401],
    [`${host}X-API-Key: ${staff}\r\nX-API-Key: ${customer}\r\n`, 401],
    [`${host}X-API-Key: ${staff} \r\n`, "staff"],
    [`${host}X-API-Key: ${customer}\r\nAuthorization: Bearer ${staff}\r\n`, 401],
    [`${host}X-API-Key: ${staff}\r\nAuthorization: Bearer ${staff}\r\n`, "staff"],
    [`${host}Authorization: Bearer ${customer}\r\nAccept: */*\r\n`, "customer"],
    [`${host}Authorization: Bearer ${staff}\r\nAccept: */*\r\n`, "staff"],
    [`${host}Authorization: Basic ${staff}\r\nAccept: */*\r\n`, 401],
    [`${host}Authorization: Bearer ${staff}\r\nAccept: text/html\r\n`, 406],
    [`${host}Authorization: Bearer ${customer}\r\nAccept: text/html\r\n`, 406],
    [`X-API-Key: ${customer}\r\n${host}`, "customer"],
    [`X-API-Key: ${staff}\r\n${host}`, "staff"],
    [`X-API-Key:\r\n${host}`, 401],
    [`Note: X-API-Key: ${customer}\r\nX-API-Key: ${customer}\r\n${host}`, "customer"],
    [`Note: X-API-Key: ${staff}\r\nX-API-Key: ${customer}\r\n${host}`, "customer"],
    [`X-API-Key: ${staff}\r\nConnection: close\r\n${host}`, "staff"],
  ];
  using wire = await aWire(store.url);
  for (const [headers, expected] of said) {
    wire.say(`GET /account HTTP/1.1\r\n${headers}\r\n`);
    const { status, body } = await wire.answer();
    expect([headers, status === 200 ? body.key.role : status]).toEqual([headers, expected]);
  }
});

test("a request may come byte by byte, and be followed by another", async () => {
  using wire = await aWire(store.url);
  await wire.sayBytewise(told(store.staff, "POST /categories", { name: "Slow \u{1f415}" }));
  const { status, body } = await wire.answer();
  expect([status, body.name]).toEqual([201, "Slow \u{1f415}"]);
  await wire.sayBytewise(asked(store.customer, `GET /categories/${body.id}`));
  expect((await wire.answer()).body).toEqual(body);
});

test("empty lines before a request are no part of it", async () => {
  using wire = await aWire(store.url);
  wire.say(`\r\n\r\n${asked(store.customer, "GET /categories")}`);
  expect((await wire.answer()).status).toBe(200);
  // Some old callers send one behind a body.
  wire.say(`${told(store.staff, "POST /categories", { name: "Cats" })}\r\n`);
  expect((await wire.answer()).status).toBe(201);
  await wire.sayBytewise("\r\n\r\n");
  wire.say(asked(store.customer, "GET /categories"));
  expect((await wire.answer()).status).toBe(200);
});

test("an address may be a whole URL, as proxies send it", async () => {
  using wire = await aWire(store.url);
  const { id } = await store.aPet();
  wire.say(
    asked(store.customer, "GET http://pets.example/categories") +
      asked(store.customer, `GET HTTPS://pets.example:8443/store/inventory/${id}`) +
      asked(store.customer, "GET http://pets.example/pets?limit=1") +
      asked(store.customer, "GET http://pets.example"),
  );
  const [categories, stock, pets, index] = await wire.answers(4);
  expect([categories?.status, stock?.status, pets?.status]).toEqual([200, 200, 200]);
  expect(stock?.body.petId).toBe(id);
  expect(pets?.body).toHaveLength(1);
  expect(pets?.headers.get("link")).toContain("</pets?limit=1");
  expect(index?.body.name).toBe("Petstore");
});

test("an address may hold UTF-8 as it is", async () => {
  const { id } = await store.aPet(1, "Jos\u00e9 \u{1f415}");
  using wire = await aWire(store.url);
  wire.say(asked(store.customer, "GET /pets?name=Jos\u00e9%20\u{1f415}"));
  const { status, body } = await wire.answer();
  expect([status, body.map((pet: { id: number }) => pet.id)]).toEqual([200, [id]]);
});

test("a method that nobody knows is refused, and the connection goes on", async () => {
  using wire = await aWire(store.url);
  const methods = ["BREW", "PROPFIND", "M-SEARCH", "TRACE", "CONNECT"];
  for (const method of methods) {
    wire.say(asked(store.customer, `${method} /pets`));
    const { status, headers, body } = await wire.answer();
    expect([status, body.code, headers.get("connection")]).toEqual([405, "method_not_allowed", null]);
    expect(headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
  }
  wire.say(asked(store.customer, "GET /pets"));
  expect((await wire.answer()).status).toBe(200);
});

test("HEAD is answered like GET, with the length of the body that it leaves out", async () => {
  using wire = await aWire(store.url);
  wire.say(asked(store.customer, "GET /categories"));
  const whole = await wire.answer();
  wire.say(asked(store.customer, "HEAD /categories") + asked(store.customer, "HEAD /nothing"));
  const head = await wire.answer("HEAD");
  expect([head.status, head.text]).toEqual([200, ""]);
  expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(whole.text)));
  expect((await wire.answer("HEAD")).status).toBe(404);
  wire.say(asked(store.customer, "GET /categories"));
  expect((await wire.answer()).text).toBe(whole.text);
});

test("answers without a body by their status tell no length", async () => {
  const { id } = await store.aPet();
  const { headers } = await store.customer.get(`/store/pets/${id}`);
  using wire = await aWire(store.url);
  wire.say(
    asked(store.customer, `GET /store/pets/${id}`, `If-None-Match: ${headers.get("etag")}`) +
      asked(store.staff, `DELETE /pets/${id}`) +
      asked(store.customer, "OPTIONS /pets"),
  );
  const answers = await wire.answers(3);
  expect(answers.map(({ status }) => status)).toEqual([304, 204, 204]);
  for (const answer of answers) expect(answer.headers.get("content-length")).toBeNull();
});

/** Texts that would end a header, or an answer, where they are not kept out. */
const splits = ["\r\nX-Split: 1", "\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "\nX-Split: 1", "\rX-Split: 1"];

test("nothing in an address can end a header of the answer", async () => {
  const { id } = await store.aPet();
  for (const split of splits.map(encodeURIComponent)) {
    using wire = await aWire(store.url);
    const paths = [
      `/pets?name=x${split}`,
      `/pets?limit=1&x${split}=1`,
      `/pets/${id}${split}`,
      `/pets/${split}`,
      `/store/orders/${split}`,
      `/${split}`,
    ];
    for (const path of paths) {
      wire.say(asked(store.customer, `GET ${path}`) + asked(store.customer, `DELETE ${path}`));
      for (const { headers } of await wire.answers(2)) expect(headers.get("x-split")).toBeNull();
    }
    wire.say(asked(store.customer, "GET /livez"));
    expect((await wire.answer()).body).toEqual({ status: "live" });
  }
});

test("nothing in a header can end a header of the answer", async () => {
  await using open = await aStore({ CORS_ORIGINS: "*" });
  for (const name of ["X-Request-Id", "Origin", "Accept", "API-Version", "Prefer", "If-Match"]) {
    using wire = await aWire(open.url);
    for (const value of ["%0d%0aX-Split: 1", "x\tX-Split: 1", "\u560d\u560aX-Split: 1", "\u0085X-Split: 1"]) {
      wire.say(
        asked(open.customer, "GET /pets", `${name}: ${value}`) +
          asked(open.customer, "OPTIONS /pets", `${name}: ${value}`, "Access-Control-Request-Method: GET"),
      );
      for (const { headers } of await wire.answers(2)) expect(headers.get("x-split")).toBeNull();
    }
  }
});
