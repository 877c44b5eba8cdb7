import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { successStatus } from "../../src/contract/route.ts";
import { aCall, each, theStore } from "./calls.ts";

const store = theStore();
const creations = everyEndpoint.filter(({ route }) => successStatus(route) === 201);

each(
  creations.filter(({ id }) => id !== "pets.createMany"),
  "tells its maker where the new record is",
  async (endpoint) => {
    const { send, by } = await aCall(store, endpoint);
    const { status, body, headers } = await send();
    expect([status, headers.has("location")]).toEqual([201, true]);
    // A secret is told once, and a delivery is tried as soon as it is there.
    const {
      key: _,
      secret: _secret,
      state: _state,
      attempts: _attempts,
      nextAttemptAt: _next,
      ...shown
    } = body;
    const found = await by.get(headers.get("location") as string);
    expect(found.status).toBe(200);
    expect(found.body).toMatchObject(shown);
  },
);

test("only a batch, which makes many, has no one place to tell of", () => {
  const without = creations.filter(({ route }) => route.location === undefined);
  expect(without.map(({ id }) => id)).toEqual(["pets.createMany"]);
});
