import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { errors } from "../../src/contract/errors.ts";
import { PAGE_LIMIT } from "../../src/contract/shapes.ts";
import { URL_CHARACTERS } from "../../src/http/handle.ts";
import { aCall, each, fieldsOf, refused, refusedCalls, theStore } from "./calls.ts";
import { raw, rawHeaders } from "./raw.ts";

const store = theStore();
const call = refusedCalls(store);
const withIds = everyEndpoint.filter(({ route }) => route.params);
const lists = everyEndpoint.filter(({ route }) => route.kind === "list");

const notIds = [
  "abc",
  "1a",
  "-1",
  "+1",
  "1.0",
  "1e3",
  "0x10",
  "%201",
  "1%00",
  "%EF%BC%91",
  "%zz",
  "null",
  "10000000000000000000",
  "9223372036854775808",
  "00000000000000000001",
];
const idsOfNothing = ["0", "9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775807"];

each(withIds, "refuses what is no id by the parameter's name", async (endpoint) => {
  const { send, path } = await call(endpoint);
  const [name] = Object.keys(endpoint.route.params ?? {});
  for (const id of notIds) {
    const reply = await refused(store, "invalid_parameter", () => send({ path: path.replace(/\d+/, id) }));
    expect(fieldsOf(reply)).toEqual([name as string]);
  }
});

each(withIds, "finds nothing under an id past all that were given out, however large", async (endpoint) => {
  const { send, path } = await call(endpoint);
  const code = endpoint.route.errors.find((each) => errors[each].status === 404);
  for (const id of idsOfNothing) {
    const reply = await refused(store, code!, () => send({ path: path.replace(/\d+/, id) }));
    expect(reply.body.message).toContain(id);
  }
});

each(everyEndpoint, "refuses unknown query parameters, each by its name", async (endpoint) => {
  const { send } = await call(endpoint);
  const query = "?colour=red&Limit=3&__proto__=1&constructor=2";
  const reply = await refused(store, "invalid_parameter", () => send({ query }));
  expect(fieldsOf(reply).sort()).toEqual(["Limit", "__proto__", "colour", "constructor"]);
  for (const { message } of reply.body.details) expect(message).toContain("is unknown");
});

each(withIds, "names a wrong id and an unknown parameter at once", async (endpoint) => {
  const { send, path } = await call(endpoint);
  const [name] = Object.keys(endpoint.route.params ?? {});
  const wrong = { path: path.replace(/\d+/, "seven"), query: "?colour=red" };
  const reply = await refused(store, "invalid_parameter", () => send(wrong));
  expect(fieldsOf(reply).sort()).toEqual([name as string, "colour"].sort());
});

each(lists, `takes a limit from 1 to ${PAGE_LIMIT} and no other`, async (endpoint) => {
  const { send } = await aCall(store, endpoint);
  for (const limit of ["1", "100"]) expect((await send({ query: `?limit=${limit}` })).status).toBe(200);
  for (const limit of ["0", "101", "-1", "1.5", "1e1", "ten", "", "99999999999999999999", "0x1", "%201"]) {
    const reply = await refused(store, "invalid_parameter", () => send({ query: `?limit=${limit}` }));
    expect(fieldsOf(reply)).toEqual(["limit"]);
  }
});

each(lists, "refuses a cursor that it did not give", async (endpoint) => {
  const { send } = await call(endpoint);
  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const cursors = ["x", "%00", forged(null), forged({}), forged(["id", "x", "y"]), forged(["nothing", 1, 1])];
  for (const cursor of [...cursors, forged(["id", 1, 1e300]), "", "a".repeat(2001)]) {
    const reply = await refused(store, "invalid_parameter", () => send({ query: `?cursor=${cursor}` }));
    expect(fieldsOf(reply)).toEqual(["cursor"]);
  }
});

each(lists, "names every wrong parameter at once, and one that is given twice", async (endpoint) => {
  const { send } = await call(endpoint);
  const names = Object.keys(endpoint.route.query ?? {}).filter((name) => name !== "cursor");
  // No parameter takes more than 2,000 characters, and none that may be repeated takes this text.
  const wrong = names.map((name) => `${name}=${"%00".repeat(2001)}`.slice(0, 600)).join("&");
  const reply = await refused(store, "invalid_parameter", () =>
    send({ query: `?${wrong}&cursor=a&cursor=b&colour=red` }),
  );
  expect([...new Set(fieldsOf(reply).map((field) => field.replace(/\[\d+\]$/, "")))].sort()).toEqual(
    [...names, "cursor", "colour"].sort(),
  );
});

each(
  lists,
  "refuses a query that is not UTF-8 or half encoded, by the parameter's name",
  async (endpoint) => {
    const { path, by } = await call(endpoint);
    const get = (query: string) =>
      raw(store.url, { method: "GET", path: path + query, headers: rawHeaders(by.key) });
    for (const broken of ["%ff", "%zz", "%", "a%c3", "%c3%28", "%ed%a0%80", "%f0%9f%90"]) {
      const reply = await refused(store, "invalid_parameter", () => get(`?limit=3&cursor=${broken}`));
      expect([broken, ...fieldsOf(reply)]).toEqual([broken, "cursor"]);
      expect(reply.body.message).toContain(broken);
    }
    const named = await refused(store, "invalid_parameter", () => get("?li%ffmit=3&cursor=%ff"));
    expect(fieldsOf(named)).toEqual(["li%ffmit", "cursor"]);
  },
);

test("what is well encoded is looked for as it is", async () => {
  await store.aPet(1, "\u00c5sa 100% & co");
  const { body } = await store.customer.get("/pets?name=%c3%85sa+100%25+%26");
  expect(body).toMatchObject([{ name: "\u00c5sa 100% & co" }]);
});

each(everyEndpoint, "refuses a URL longer than 8 KiB", async (endpoint) => {
  const { send, path } = await call(endpoint);
  const fitting = `?x=${"a".repeat(URL_CHARACTERS - path.length - 3)}`;
  await refused(store, "invalid_parameter", () => send({ query: fitting }));
  await refused(store, "uri_too_long", () => send({ query: `${fitting}a` }));
});

test("the longest URL is 8 KiB", () => expect(URL_CHARACTERS).toBe(8192));

test("usage is told in days of the calendar, or refused, however early it is asked for", async () => {
  for (const path of ["/account/usage", "/admin/usage"])
    for (const query of [
      "?to=0000-01-01",
      "?from=0000-01-01&to=0000-01-02",
      "?to=0001-01-01",
      "?to=9999-12-31",
    ])
      expect([200, 400]).toContain((await store.admin.get(path + query)).status);
});
