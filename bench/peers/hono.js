// Hono with its OpenAPI routes: zod shapes validate what comes in and document what goes out.
import { Database } from "bun:sqlite";
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { duties } from "./duties.js";
import { keysOf } from "./keys.js";
import { admission, spent, windows } from "./limits.js";
import { firstTag, openShop, pageLinks, Refused } from "./shop.js";

const id = z.int().min(1);
const status = z.enum(["available", "pending", "sold"]);
const pet = z.object({ id, name: z.string(), categoryId: id, status });
const category = z.object({ id, name: z.string(), description: z.string().nullable() });
const order = z.object({ id, petId: id, quantity: z.int(), complete: z.boolean() });
const json = (schema, description) => ({ description, content: { "application/json": { schema } } });

const getPet = createRoute({
  method: "get",
  path: "/store/pets/{petId}",
  request: { params: z.object({ petId: z.coerce.number().int().min(1) }) },
  responses: { 200: json(pet.extend({ category, quantity: z.int() }), "The pet") },
});
const listPets = createRoute({
  method: "get",
  path: "/pets",
  request: {
    query: z.object({
      status: status.optional(),
      name: z.string().min(1).max(200).optional(),
      limit: z.coerce.number().int().min(1).max(100).default(20),
      cursor: z.string().max(2000).optional(),
    }),
  },
  responses: { 200: json(z.array(pet), "A page of pets") },
});
const placeOrder = createRoute({
  method: "post",
  path: "/store/orders",
  request: {
    body: json(
      z.strictObject({ petId: id, quantity: z.int().min(1).max(2147483647).default(1) }),
      "An order",
    ),
  },
  responses: { 201: json(order, "The order") },
});

const shop = openShop(new Database(process.env.DATABASE_URL));
const identify = keysOf(shop);
const app = new OpenAPIHono({
  defaultHook: (result) => {
    if (!result.success) throw new Refused(422, "invalid_request", result.error.message);
  },
});
app.use(duties ? admittingDutifully() : admitting());
app.openapi(getPet, (c) => {
  const { petId } = c.req.valid("param");
  if (!duties) return c.json(shop.pet(petId));
  const { pet, tag } = shop.taggedPet(petId);
  c.header("etag", tag);
  return c.req.header("if-none-match") === tag ? c.body(null, 304) : c.json(pet);
});
app.openapi(listPets, (c) => {
  const { pets, next } = shop.pets(c.req.valid("query"));
  c.header("link", pageLinks("/pets", c.req.url.split("?")[1] ?? "", next));
  return c.json(pets);
});
app.openapi(placeOrder, (c) => {
  const made = shop.place(c.get("client").clientId, c.req.header("idempotency-key"), c.req.valid("json"));
  c.header("location", `/store/orders/${made.id}`);
  if (duties) c.header("etag", firstTag);
  return c.json(made, 201);
});
app.onError((error, c) => {
  for (const [name, value] of Object.entries(duties?.refusal(error.status) ?? {})) c.header(name, value);
  return refusal(error, c);
});
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, development: false, fetch: app.fetch });
console.error(`http://127.0.0.1:${server.port}`);

function refusal({ code = "internal_error", message, status = 500 }, c) {
  return c.json({ code, message, status }, status);
}

/** Who asks, and whether they may. */
function admitting() {
  const admit = windows();
  return async (c, next) => {
    const client = identify(c.req.header("x-api-key"));
    const { headers, isSpent, retryAfter } = admit(client);
    for (const name in headers) c.header(name, headers[name]);
    if (isSpent) {
      c.header("retry-after", retryAfter);
      throw spent;
    }
    c.set("client", client);
    await next();
  };
}

/** The same with all duties. */
function admittingDutifully() {
  const admit = admission(identify);
  return async (c, next) => {
    const begun = duties.begin(c.req.header("x-request-id"));
    const addressOf = () => c.env.requestIP(c.req.raw).address;
    const { client, headers, refused } = admit(c.req.header("x-api-key"), addressOf);
    for (const name in begun.headers) c.header(name, begun.headers[name]);
    for (const name in headers) c.header(name, headers[name]);
    const { method, path } = c.req;
    if (refused) {
      duties.end(begun, client, method, path, undefined, refused.status, refused.code);
      return refusal(refused, c);
    }
    c.set("client", client);
    await next();
    duties.end(begun, client, method, path, c.req.routePath, c.res.status, c.error?.code);
  };
}
