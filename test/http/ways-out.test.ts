import { expect, test } from "bun:test";
import { theStore } from "../contract/calls.ts";

const store = theStore();

async function told(sent: Promise<{ status: number; body: { message: string } }>): Promise<string> {
  const { status, body } = await sent;
  return `${status} ${body.message}`;
}

test("a path with a slash at the end is told to leave it out", async () => {
  expect(await told(store.customer.get("/pets/"))).toStartWith(
    "404 There is nothing at /pets/. Leave out the slash at the end.",
  );
});

test("a key that is sent empty is said to be empty", async () => {
  expect(await told(store.nobody.get("/pets", { "x-api-key": "" }))).toStartWith("401 The API key is empty.");
});

test("who sends no body where one is wanted is told the least that can be sent", async () => {
  const path = "/store/orders";
  expect(await told(store.customer.send("POST", path))).toBe(
    "415 There is no body. Send one as application/json, at least {}.",
  );
});

test("a time whose plus became a space is told how it is written in an address", async () => {
  const time = "2026-11-15T00:00:00+02:00";
  const problem = `an RFC 3339 date-time with an offset, such as 2026-11-30T12:00:00Z, got "2026-11-15T00:00:00 02:00"; write + as %2B in an address.`;
  expect(await told(store.customer.get(`/store/orders?shippedAfter=${time}`))).toEndWith(
    `must be ${problem}`,
  );
  expect(await told(store.customer.get(`/events?since=${time}`))).toEndWith(
    `since must be now, or ${problem}`,
  );
  expect((await store.customer.get(`/events?since=${encodeURIComponent(time)}`)).status).toBe(200);
});

test("a usage that would end before it begins is refused in plain words", async () => {
  expect(await told(store.customer.get("/account/usage?from=2026-11-20&to=2026-11-15"))).toBe(
    "400 The parameter from must not be after `to`, or after today where that is left out.",
  );
});
