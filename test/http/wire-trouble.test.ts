import { afterAll, beforeAll, expect, test } from "bun:test";
import { KEY_BYTES, keyFrom } from "../../src/core/key-format.ts";
import { aStore, type TestStore } from "../harness.ts";
import { asked, aWire } from "./wire.ts";

let store: TestStore;
beforeAll(async () => {
  store = await aStore({ CORS_ORIGINS: "*" });
});
afterAll(() => store[Symbol.asyncDispose]());

test("a header of blanks without end holds up nobody", async () => {
  using wire = await aWire(store.url);
  for (let n = 0; n < 200; n++)
    wire.say(asked(store.customer, "GET /pets", `Connection: a${" ".repeat(15_000 + n)}b`));
  for (const { status } of await wire.answers(200)) expect(status).toBe(200);
});

test("a key in the place of the method, or of the whole line, is neither logged nor repeated", async () => {
  const key = keyFrom(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
  for (const line of [`${key} /pets HTTP/1.1`, `GET ${key} HTTP/1.1`, key, `GET /pets ${key}`]) {
    using wire = await aWire(store.url);
    wire.say(`${line}\r\nHost: petstore\r\n\r\n`);
    const { status, text } = await wire.answer();
    expect([line, status, text.includes(key)]).toEqual([line, 400, false]);
  }
  expect(store.logged()).not.toContain(key.slice(0, 20));
});

test("an origin that no header can repeat is not repeated", async () => {
  using wire = await aWire(store.url);
  wire.say(Buffer.from(asked(store.customer, "GET /pets", `Origin: https://${"\xe4".repeat(50)}`), "latin1"));
  const { status, headers } = await wire.answer();
  expect([status, headers.get("access-control-allow-origin")]).toEqual([200, null]);
});

test("lines that end in a line feed alone are refused at once", async () => {
  using wire = await aWire(store.url);
  wire.say("GET /livez HTTP/1.1\nHost: petstore\n\n");
  expect((await wire.answer()).body.code).toBe("malformed_request");
});

test("only OPTIONS can be asked of the whole server", async () => {
  using wire = await aWire(store.url);
  wire.say(asked(store.customer, "OPTIONS *"));
  expect((await wire.answer()).status).toBe(204);
  wire.say(asked(store.customer, "GET *"));
  expect((await wire.answer()).body.code).toBe("malformed_request");
});
