import { afterAll, beforeAll, expect, test } from "bun:test";
import { aStore, type TestStore } from "../harness.ts";
import { type Answered, asked, aWire, loggedRequests, told, type Wire } from "./wire.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore();
});
afterAll(() => store.stop());

const connectionOf = ({ headers }: Answered) => headers.get("connection");

test("a connection of HTTP/1.1 goes on, and nothing is said of it", async () => {
  using wire = await aWire(store.url);
  for (const header of ["X-Nothing: 1", "Connection: keep-alive", "Connection: TE, Keep-Alive"]) {
    wire.say(asked(store.customer, "GET /pets", header));
    expect(connectionOf(await wire.answer())).toBeNull();
  }
});

test("a connection of HTTP/1.0 goes on if its caller asks for that, which is confirmed", async () => {
  const old = (...headers: string[]) =>
    asked(store.customer, "GET /pets", ...headers).replace("HTTP/1.1\r\nHost: petstore", "HTTP/1.0");
  using wire = await aWire(store.url);
  wire.say(old("Connection: Keep-Alive") + old("Connection: keep-alive") + old() + old());
  const answers = await wire.rest();
  expect(answers.map(connectionOf)).toEqual(["keep-alive", "keep-alive", "close"]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test("a caller that wants to close has its answer, and nothing behind it is looked at", async () => {
  const before = await store.snapshot();
  const smuggled = told(store.staff, "POST /categories", { name: "Behind" });
  for (const value of ["close", "Close", "keep-alive, close", "x,close"]) {
    using wire = await aWire(store.url);
    wire.say(asked(store.customer, "GET /pets", `Connection: ${value}`) + smuggled);
    const answers = await wire.rest();
    expect(answers.map(connectionOf)).toEqual(["close"]);
    expect(answers[0]?.status).toBe(200);
  }
  expect(await store.snapshot()).toBe(before);
});

test("who has said all that it has to say gets all its answers, then the connection ends", async () => {
  using wire = await aWire(store.url);
  wire.say(
    told(store.staff, "POST /categories", { name: "First" }) +
      asked(store.customer, "GET /categories") +
      told(store.staff, "POST /categories", { name: "Second" }),
  );
  wire.finish();
  const answers = await wire.rest();
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 201]);
  using single = await aWire(store.url);
  single.say(asked(store.customer, "GET /categories"));
  single.finish();
  expect((await single.rest()).map(({ status }) => status)).toEqual([200]);
});

test("who leaves within a request, or says nothing, is told nothing", async () => {
  const before = loggedRequests(store).length;
  for (const said of ["", "\r\n", "GET /pets HTTP/1.1\r\nHost: pets"]) {
    using wire = await aWire(store.url);
    if (said !== "") wire.say(said);
    wire.finish();
    expect(await wire.rest()).toEqual([]);
  }
  expect(loggedRequests(store)).toHaveLength(before);
});

test("an order whose caller is gone is placed or not, and the server goes on", async () => {
  const { id } = await store.aPet(50);
  for (let each = 0; each < 20; each++) {
    using wire = await aWire(store.url);
    wire.say(told(store.customer, "POST /store/orders", { petId: id, quantity: 1 }).repeat(2));
    if (each % 2 === 0) await Bun.sleep(0);
  }
  expect((await store.customer.get(`/store/inventory/${id}`)).status).toBe(200);
  expect(await store.findings()).toEqual([]);
});

test("500 connections at once, with several requests each, have every answer at its own request", async () => {
  const wires = await Promise.all(Array.from({ length: 500 }, () => aWire(store.url)));
  const converse = async (wire: Wire, caller: number) => {
    const id = (request: number) => `X-Request-Id: caller-${caller}-${request}`;
    wire.say(asked(store.customer, `GET /${caller}/0`, id(0)) + asked(store.customer, "GET /pets", id(1)));
    const [nothing] = await wire.answers(2);
    expect(nothing?.body.message).toContain(`/${caller}/0.`);
    const name = `Caller ${caller}`;
    wire.say(
      told(store.staff, "POST /categories", { name }, id(2)) +
        asked(store.customer, "POST /categories", id(3)),
    );
    const answers = await wire.answers(2);
    expect(answers.map(({ status, body }) => [status, body.name])).toEqual([
      [201, name],
      [403, undefined],
    ]);
    const ids = [nothing as Answered, ...answers].map(({ headers }) => headers.get("x-request-id"));
    expect(ids).toEqual([0, 2, 3].map((request) => `caller-${caller}-${request}`));
  };
  await Promise.all(wires.map(converse));
  for (const wire of wires) wire[Symbol.dispose]();
});

test("who does not take its answers holds up nobody, and has them whole when it does", async () => {
  await using shop = await aStore();
  // Names of characters that are more than one byte: what was sent is counted in bytes.
  const name = "\u00e9\u{1f415}\u0159".repeat(20);
  const { categoryId } = await shop.aPet();
  const pets = Array.from({ length: 100 }, (_, each) => ({ name: `${each} ${name}`, categoryId }));
  expect((await shop.staff.post("/pets/batch", pets)).status).toBe(201);
  const { text: page } = await shop.customer.get("/pets?limit=100");
  const requests = 2000;
  const before = loggedRequests(shop).length;

  using slow = await aWire(shop.url);
  slow.stopListening();
  for (let each = 0; each < requests; each++)
    slow.say(asked(shop.customer, "GET /pets?limit=100", `X-Request-Id: slow-${each}`));
  for (let each = 0; each < 50; each++) {
    using wire = await aWire(shop.url);
    wire.say(asked(shop.customer, "GET /categories"));
    expect((await wire.answer()).status).toBe(200);
  }
  slow.finish();
  // What nobody takes is not even asked for.
  expect(loggedRequests(shop).length - before - 50).toBeLessThan(requests);

  slow.listen();
  for (let each = 0; each < requests; each++) {
    const { headers, text } = await slow.answer();
    expect(headers.get("x-request-id")).toBe(`slow-${each}`);
    if (text !== page) throw new Error(`Answer ${each} is not the page: ${text.slice(0, 300)}`);
  }
  expect(await slow.rest()).toEqual([]);
});
