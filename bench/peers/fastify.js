// Fastify as its documentation has it: schemas that are compiled, the project's own rate limiter, hooks.
import { DatabaseSync } from "node:sqlite";
import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";
import { keysOf } from "./keys.js";
import { openShop, pageLinks, Refused } from "./shop.js";

const id = { type: "integer", minimum: 1 };
const pet = {
  type: "object",
  properties: { id, name: { type: "string" }, categoryId: id, status: { type: "string" } },
};
const category = {
  type: "object",
  properties: { id, name: { type: "string" }, description: { type: "string", nullable: true } },
};
const storePet = {
  type: "object",
  properties: { ...pet.properties, category, quantity: { type: "integer" } },
};
const order = {
  type: "object",
  properties: { id, petId: id, quantity: { type: "integer" }, complete: { type: "boolean" } },
};
const newOrder = {
  type: "object",
  required: ["petId"],
  additionalProperties: false,
  properties: { petId: id, quantity: { type: "integer", minimum: 1, maximum: 2147483647, default: 1 } },
};
const page = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["available", "pending", "sold"] },
    name: { type: "string", minLength: 1, maxLength: 200 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
    cursor: { type: "string", maxLength: 2000 },
  },
};

const shop = openShop(new DatabaseSync(process.env.DATABASE_URL));
const identify = keysOf(shop);
// An unknown field is refused, as by all others here, and not dropped.
const app = Fastify({ ajv: { customOptions: { removeAdditional: false } } });

app.setErrorHandler((error, _request, reply) => {
  const status = error.status ?? error.statusCode ?? 500;
  const code =
    error instanceof Refused ? error.code : status === 429 ? "rate_limit_exceeded" : "invalid_request";
  return reply.code(status).send({ code, message: error.message, status });
});
app.decorateRequest("client", null);
app.addHook("onRequest", (request, _reply, done) => {
  request.client = identify(request.headers["x-api-key"]);
  done();
});
const keyGenerator = ({ client }) => client.clientId;
const silent = { "x-ratelimit-limit": false, "x-ratelimit-remaining": false, "x-ratelimit-reset": false };
await app.register(rateLimit, {
  timeWindow: "1 day",
  max: ({ client }) => client.perDay,
  keyGenerator,
  addHeadersOnExceeding: silent,
});
await app.register(rateLimit, {
  timeWindow: "1 minute",
  max: ({ client }) => client.perMinute,
  keyGenerator,
});

app.get(
  "/store/pets/:petId",
  { schema: { params: { type: "object", properties: { petId: id } }, response: { 200: storePet } } },
  (request, reply) => reply.send(shop.pet(request.params.petId)),
);
app.get(
  "/pets",
  { schema: { querystring: page, response: { 200: { type: "array", items: pet } } } },
  (request, reply) => {
    const { pets, next } = shop.pets(request.query);
    const query = request.url.split("?")[1] ?? "";
    return reply.header("link", pageLinks("/pets", query, next)).send(pets);
  },
);
app.post("/store/orders", { schema: { body: newOrder, response: { 201: order } } }, (request, reply) => {
  const made = shop.place(request.client.clientId, request.headers["idempotency-key"], request.body);
  return reply.code(201).header("location", `/store/orders/${made.id}`).send(made);
});
console.error(await app.listen({ host: "127.0.0.1", port: 0 }));
