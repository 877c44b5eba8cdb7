import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { aStore, NOON, type Reply, type TestStore } from "../harness.ts";
import { aCall, each, refused, theStore } from "./calls.ts";

const store = theStore();
const deprecated = everyEndpoint.filter(({ route }) => route.successor);
const others = everyEndpoint.filter(({ route }) => !route.successor);

function expectNotice(reply: Reply, successorPath: string): void {
  expect(reply.headers.get("deprecation")).toBe("@1793491200");
  expect(reply.headers.get("sunset")).toBe("Tue, 30 Nov 2027 23:59:59 GMT");
  const links = reply.headers.get("link") ?? "";
  expect(links).toContain(`<${successorPath}>; rel="successor-version"`);
  expect(links).toMatch(/<[^>]+>; rel="deprecation"/);
}

/** The clock of the store at another time, for as long as the work takes. */
async function at(time: number, work: () => Promise<unknown>): Promise<void> {
  store.clock.now = time;
  try {
    await work();
  } finally {
    store.clock.now = NOON;
  }
}

test("only GET /pets/{petId} is deprecated", () => {
  expect(deprecated.map(({ route }) => route.at)).toEqual(["GET /pets/{petId}"]);
});

each(deprecated, "tells of its end and its successor on every answer", async (endpoint) => {
  const { send, path } = await aCall(store, endpoint);
  const successor = everyEndpoint.find(({ id }) => id === endpoint.route.successor);
  const successorPath = (from: string) =>
    successor?.path.replace(/\{\w+\}/, from.split("/").at(-1) as string) as string;
  const tag = (await send()).headers.get("etag") as string;
  const answers: [number, Parameters<typeof send>[0]][] = [
    [200, {}],
    [200, { method: "HEAD" }],
    [304, { headers: { "if-none-match": tag } }],
    [400, { query: "?colour=red" }],
    [400, { headers: { "api-version": "2" } }],
    [400, { path: path.replace(/\d+/, "seven") }],
    [401, { by: store.nobody }],
    [404, { path: path.replace(/\d+/, "9007199254740993") }],
    [406, { headers: { accept: "text/html" } }],
  ];
  for (const [status, sent] of answers) {
    const reply = await send(sent);
    expect(reply.status).toBe(status);
    expectNotice(reply, successorPath(sent?.path ?? path));
  }
});

each(
  deprecated,
  "works until its sunset, and from that second on says what replaces it",
  async (endpoint) => {
    const { send, path } = await aCall(store, endpoint);
    const sunset = Date.parse("2027-11-30T23:59:59Z");
    const successor = everyEndpoint.find(({ id }) => id === endpoint.route.successor);
    await at(sunset - 1, async () => expect((await send()).status).toBe(200));
    for (const time of [sunset, sunset + 1, sunset + 1e12]) {
      await at(time, async () => {
        const reply = await refused(store, "operation_sunset", () => send());
        expect(reply.body.message).toContain(successor?.route.at as string);
        expectNotice(reply, path.replace("/pets", "/store/pets"));
        expect((await send({ method: "HEAD" })).status).toBe(410);
        expect((await store.customer.get(`/store${path}`)).status).toBe(200);
        expect((await store.staff.patch(path, {})).status).toBe(200);
      });
    }
  },
);

each(others, "carries no notice of deprecation", async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  const { headers } = await send();
  for (const name of ["deprecation", "sunset"]) expect(headers.get(name)).toBeNull();
  expect(headers.get("link") ?? "").not.toMatch(/successor-version|deprecation/);
});

test("both dates are settings", async () => {
  await using moved: TestStore = await aStore({
    PET_GET_DEPRECATED_AT: "2026-01-01T01:00:00+01:00",
    PET_GET_SUNSET_AT: "2026-11-15T12:00:01Z",
  });
  const pet = await moved.aPet();
  const { headers } = await moved.customer.get(`/pets/${pet.id}`);
  expect(headers.get("deprecation")).toBe("@1767225600");
  expect(headers.get("sunset")).toBe("Sun, 15 Nov 2026 12:00:01 GMT");
  moved.clock.now += 1000;
  expect((await moved.customer.get(`/pets/${pet.id}`)).status).toBe(410);
});
