// What is rehearsed is what would really come.
import { expect, test } from "bun:test";
import { refused, theStore } from "../contract/calls.ts";
import { aStore, type Reply } from "../harness.ts";
import { simulate } from "./rehearsing.ts";

const store = theStore();

/** What must be equal between the rehearsal and the real thing. */
function shapeOf(reply: Reply) {
  const {
    "x-request-id": _id,
    date: _date,
    "preference-applied": _applied,
    ...rest
  } = Object.fromEntries(reply.headers);
  const body = Object.fromEntries(Object.entries(reply.body).map(([name, value]) => [name, typeof value]));
  return {
    status: reply.status,
    code: reply.body.code,
    names: Object.keys(rest).sort(),
    retry: rest["x-should-retry"],
    cache: rest["cache-control"],
    body,
  };
}

test("a rehearsed 429 is the real one, on the minute", async () => {
  const quota = { perMinute: 3, perDay: 30 };
  const [rehearsing, real] = [
    await store.newPerson("customer", { quota }),
    await store.newPerson("customer", { quota }),
  ];
  await rehearsing.get("/pets");
  const played = await rehearsing.get("/pets", simulate("rate_limit"));
  for (let each = 0; each < 3; each++) await real.get("/pets");
  const met = await real.get("/pets");
  expect(shapeOf(played)).toEqual(shapeOf(met));
  expect(played.text).toBe(met.text);
  expect(played.headers.get("retry-after")).toBe(met.headers.get("retry-after") as string);
  const names = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit-policy"];
  for (const name of names) expect([name, played.headers.get(name)]).toEqual([name, met.headers.get(name)]);
  expect(played.headers.get("ratelimit")).toStartWith('"minute";r=0;t=60, ');
});

test("a rehearsed 429 is the real one, on the day", async () => {
  const quota = { perMinute: 3, perDay: 3 };
  const [rehearsing, real] = [
    await store.newPerson("customer", { quota }),
    await store.newPerson("customer", { quota }),
  ];
  const played = await rehearsing.get("/pets", simulate("daily_quota"));
  for (let each = 0; each < 3; each++) await real.get("/pets");
  const met = await real.get("/pets");
  expect(shapeOf(played)).toEqual(shapeOf(met));
  expect(played.text).toBe(met.text);
  for (const name of ["retry-after", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"])
    expect([name, played.headers.get(name)]).toEqual([name, met.headers.get(name)]);
});

test("a rehearsed spent window is the one that the headers show, even when the other is as good as spent", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 1, perDay: 1 } });
  const { headers, body } = await person.get("/pets", simulate("rate_limit"));
  expect(body.code).toBe("rate_limit_exceeded");
  const wait = Number(headers.get("x-ratelimit-reset")) - Math.floor(store.clock.now / 1000);
  expect(headers.get("retry-after")).toBe(String(wait));
});

test("a rehearsed ban is the real first one", async () => {
  const [rehearsing, real] = [await store.newPerson("customer"), await store.newPerson("customer")];
  await store.admin.put(`/admin/keys/${real.keyId}/ban`, { minutes: store.config.banMinutes[0] });
  const [played, met] = [await rehearsing.get("/pets", simulate("ban")), await real.get("/pets")];
  expect(shapeOf(played)).toEqual(shapeOf(met));
  expect(played.text).toBe(met.text);
  expect(played.headers.get("retry-after")).toBe("300");
  expect((await rehearsing.get("/pets")).status).toBe(200);
});

test("a rehearsed end of stock is the real one, of the pet and the units that were asked for, and takes no stock", async () => {
  const [{ id: petId }, { id: otherId }] = [await store.aPet(2), await store.aPet(1)];
  const asked = (units: number, pet: number, more = "") =>
    `Asked for ${units} of pet ${pet}${more}, 0 in stock. Staff restock with PUT /store/inventory/${pet}.`;
  const place = (body: object, headers = {}) => store.customer.post("/store/orders", body, headers);
  const short = simulate("insufficient_stock");
  const met = await place({ petId, quantity: 3 });
  const played = await place({ petId, quantity: 3 }, short);
  expect(shapeOf(played)).toEqual(shapeOf(met));
  expect(played.body.message).toBe(met.body.message.replace("2 in stock", "0 in stock"));
  expect((await place({ petId }, short)).body.message).toBe(asked(1, petId));

  const { body: order } = await place({ petId });
  const change = (body: object) => store.customer.patch(`/store/orders/${order.id}`, body, short);
  expect((await change({ quantity: 3 })).body.message).toBe(asked(3, petId, ", 2 more than the order has"));
  expect((await change({ petId: otherId, quantity: 4 })).body.message).toBe(asked(4, otherId));
  expect((await store.customer.get(`/store/inventory/${petId}`)).body.quantity).toBe(1);
});

test("a rehearsed end of stock wants an order that could be placed or changed, as the real one does", async () => {
  const short = simulate("insufficient_stock");
  const place = (sent: object) => store.customer.send("POST", "/store/orders", { headers: short, ...sent });
  await refused(store, "invalid_json", () => place({ raw: "{" }));
  await refused(store, "invalid_body", () => place({ body: { quantity: 0 } }));
  await refused(store, "order_not_found", () => store.customer.patch("/store/orders/999999", {}, short));
  await refused(store, "unsupported_media_type", () =>
    place({ raw: "{}", headers: { ...short, "content-type": "text/plain" } }),
  );
});

test("a rehearsed end of stock is judged after what comes before it: headers, the kept answer, the record's ETag and id", async () => {
  const { id: petId } = await store.aPet(9);
  const short = simulate("insufficient_stock");
  const place = (body: object, headers = {}) => store.customer.post("/store/orders", body, headers);
  for (const headers of [{ "idempotency-key": "a b" }, { "if-match": "o1" }, { "if-match": "*" }])
    await refused(store, "invalid_parameter", () => place({ petId }, { ...short, ...headers }));

  const key = { "idempotency-key": "cart-4711" };
  const placed = await place({ petId, quantity: 2 }, key);
  const again = await place({ petId, quantity: 2 }, { ...key, ...short });
  expect([again.status, again.text]).toEqual([201, placed.text]);
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(again.headers.get("location")).toBe(placed.headers.get("location"));
  expect(again.headers.get("preference-applied")).toBeNull();
  for (const body of [{ petId, quantity: 3 }, { petId: "?" }])
    await refused(store, "idempotency_key_reused", () => place(body, { ...key, ...short }));
  await refused(store, "insufficient_stock", () => place({ petId }, { "idempotency-key": "new", ...short }));
  expect((await place({ petId }, { "idempotency-key": "new" })).status).toBe(201);

  const { id } = placed.body;
  const change = (body: object, headers = {}) =>
    store.customer.patch(`/store/orders/${id}`, body, { ...short, ...headers });
  await refused(store, "invalid_parameter", () => change({}, { "if-match": "o1" }));
  await refused(store, "precondition_failed", () => change({}, { "if-match": '"o999"' }));
  await refused(store, "invalid_body", () => change({ id: id + 1 }));
  await refused(store, "insufficient_stock", () => change({ id, quantity: 5 }, { "if-match": "*" }));
});

test("a rehearsed end of stock leaves alone what no stock is needed for: a complete order, a draft to be completed", async () => {
  const { id: petId } = await store.aPet(9);
  const short = simulate("insufficient_stock");
  const place = (body: object, headers = {}) => store.customer.post("/store/orders", body, headers);
  const { body: done } = await place({ petId, complete: true });
  const { body: open } = await place({ petId });
  const { body: draft } = await place({});
  const change = (id: number, body: object) => store.customer.patch(`/store/orders/${id}`, body, short);
  await refused(store, "order_complete", () => change(done.id, { quantity: 2 }));
  await refused(store, "order_is_draft", () => place({ complete: true }, short));
  await refused(store, "order_is_draft", () => change(draft.id, { complete: true }));
  await refused(store, "order_is_draft", () => change(open.id, { petId: null, complete: true }));
  await refused(store, "insufficient_stock", () => change(draft.id, { petId, complete: true }));
});

test("a rehearsed sunset is the real one, with the same notice", async () => {
  await using over = await aStore({ PET_GET_SUNSET_AT: "2026-11-15T11:00:00Z" });
  const [mine, theirs] = [await store.aPet(), await over.aPet()];
  const played = await store.customer.get(`/pets/${mine.id}`, simulate("sunset"));
  const met = await over.customer.get(`/pets/${theirs.id}`);
  expect(shapeOf(played)).toEqual(shapeOf(met));
  expect(played.body.message).toContain("GET /store/pets/{petId}");
  expect(played.headers.get("link")).toContain('rel="successor-version"');
});

test("a rehearsed outage has what every fault of the server has", async () => {
  await using broken = await aStore();
  const played = await broken.staff.post("/categories", { name: "Birds" }, simulate("unavailable"));
  await broken.beside.db.exec("alter table categories rename to lost_categories");
  const met = await broken.staff.post("/categories", { name: "Birds" });
  expect(met.status).toBeGreaterThanOrEqual(500);
  expect(shapeOf(played)).toEqual({ ...shapeOf(met), status: 503, code: "unavailable" });
});

test("a limited or banned key gets the real refusal, not the rehearsed one", async () => {
  const person = await store.newPerson("customer", { quota: { perMinute: 1, perDay: 10 } });
  await person.get("/pets");
  const limited = await person.get("/pets", simulate("unavailable"));
  expect([limited.body.code, limited.headers.get("preference-applied")]).toEqual([
    "rate_limit_exceeded",
    null,
  ]);
  await store.admin.put(`/admin/keys/${person.keyId}/ban`, { minutes: 5 });
  const banned = await person.get("/pets", simulate("unavailable"));
  expect([banned.body.code, banned.headers.get("preference-applied")]).toEqual(["key_banned", null]);
});
