import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { mediaType, successStatus } from "../../src/contract/route.ts";
import { aStore } from "../harness.ts";
import { aCall, each, refused, refusedCalls, theStore } from "./calls.ts";
import { halfSent, raw, rawHeaders } from "./raw.ts";

const store = theStore();
const call = refusedCalls(store);

each(everyEndpoint, "takes API-Version 1, 1.0 and 1.0.0, and answers as 1.0.0", async (endpoint) => {
  for (const version of ["1", "1.0", "1.0.0"]) {
    const { send } = await aCall(store, endpoint);
    const reply = await send({ headers: { "api-version": version } });
    expect(reply.status).toBe(successStatus(endpoint.route));
    expect(reply.headers.get("api-version")).toBe("1.0.0");
  }
});

each(everyEndpoint, "refuses a version that it does not speak, and names it", async (endpoint) => {
  const { send } = await call(endpoint);
  for (const version of ["2", "1.1", "1.0.1", "1.0.0.0", "v1", "01", "1.", "0", "latest", "1, 1", ""]) {
    const reply = await refused(store, "unsupported_version", () =>
      send({ headers: { "api-version": version } }),
    );
    expect(reply.body.message).toContain(`"${version}"`);
    expect(reply.headers.get("api-version")).toBe("1.0.0");
  }
});

each(everyEndpoint, "refuses a caller that does not accept what it answers with", async (endpoint) => {
  const { send } = await call(endpoint);
  const type = mediaType(endpoint.route);
  for (const accept of [
    "text/html",
    "application/xml",
    type === "application/json" ? "text/*" : "application/*",
    `${type};q=0`,
    `${type}; q=0.000, text/html`,
    `${type}p`,
  ]) {
    const reply = await refused(store, "not_acceptable", () => send({ headers: { accept } }));
    expect(reply.headers.get("content-type")).toBe("application/json");
  }
});

each(everyEndpoint, "takes a caller that accepts what it answers with among others", async (endpoint) => {
  const type = mediaType(endpoint.route);
  for (const accept of [
    type,
    type.toUpperCase(),
    `${type}; charset=utf-8`,
    `text/html, ${type};q=0.5`,
    type.replace(/[^/]*$/, "*"),
    "text/html;q=1, */*;q=0.1",
    "text/html;q=0,*/*",
    "",
  ]) {
    const { send } = await aCall(store, endpoint);
    expect((await send({ headers: { accept } })).status).toBe(successStatus(endpoint.route));
  }
});

each(
  everyEndpoint,
  "keeps a safe request id of the caller's, and gives another its own",
  async (endpoint) => {
    const { send, method, path } = await call(endpoint);
    const idOf = async (id: string) =>
      (await send({ by: store.nobody, headers: { "x-request-id": id } })).headers.get("x-request-id");
    for (const id of [
      "a",
      "shop-4711",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      "x".repeat(128),
    ])
      expect(await idOf(id)).toBe(id);
    const ours = new Set<string | null>();
    const unsafe = [
      "",
      "x".repeat(129),
      "two words",
      "a,b",
      '"quoted"',
      "<script>",
      "a;b",
      "{}",
      "\u00e9",
      "a\\b",
    ];
    for (const id of unsafe) {
      const given = await idOf(id);
      expect(given).not.toBe(id);
      ours.add(given);
    }
    const none = await raw(store.url, { method, path, headers: rawHeaders("") });
    ours.add(none.headers.get("x-request-id"));
    expect(ours.size).toBe(unsafe.length + 1);
  },
);

each(everyEndpoint, "says how stable it is on all its answers, and nothing if it is", async (endpoint) => {
  const stability = endpoint.route.stability ?? null;
  const refusedCall = await call(endpoint);
  const { send } = await aCall(store, endpoint);
  for (const reply of [
    await send(),
    await refusedCall.send({ by: store.nobody }),
    await refusedCall.send({ query: "?colour=red" }),
    await refusedCall.send({ headers: { "api-version": "7" } }),
  ]) {
    expect(reply.headers.get("x-api-stability")).toBe(stability);
  }
});

each(
  everyEndpoint,
  "lets nobody but the caller keep an answer, and nobody guess its type",
  async (endpoint) => {
    const { send } = await aCall(store, endpoint);
    const refusedCall = await call(endpoint);
    for (const reply of [await send(), await refusedCall.send({ by: store.nobody })]) {
      expect(reply.headers.get("cache-control")).toBe("private, no-cache");
      expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
      const type = reply.status < 400 ? mediaType(endpoint.route) : "application/json";
      expect(reply.headers.get("content-type")).toBe(reply.status === 204 ? null : type);
      expect(reply.headers.get("set-cookie")).toBeNull();
      expect(reply.headers.get("server")).toBeNull();
    }
  },
);

test("a server with more under way than it takes sheds the rest, and says when to come back", async () => {
  await using busy = await aStore({ MAX_PENDING_REQUESTS: "1" });
  using first = await halfSent(busy);
  let reply = await busy.customer.get("/pets");
  while (reply.status === 200) reply = await busy.customer.get("/pets");
  expect([reply.status, reply.body.code]).toEqual([503, "overloaded"]);
  for (const path of ["/pets", "/nothing"])
    await refused(busy, "overloaded", () => busy.nobody.send("POST", path, { raw: "{" }));
  await first.finish();
  expect((await busy.customer.get("/pets")).status).toBe(200);
});
