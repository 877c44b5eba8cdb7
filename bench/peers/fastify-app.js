// What both Fastify peers share: the application, its schemas, and the two limits.
import Fastify from "fastify";
import { duties } from "./duties.js";
import { Refused } from "./shop.js";

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

/** The schemas of each route, as its options. */
export const getPet = {
  schema: { params: { type: "object", properties: { petId: id } }, response: { 200: storePet } },
};
export const listPets = {
  schema: { querystring: page, response: { 200: { type: "array", items: pet } } },
};
export const placeOrder = { schema: { body: newOrder, response: { 201: order } } };

const keyGenerator = ({ client }) => client.clientId;
const silent = { "x-ratelimit-limit": false, "x-ratelimit-remaining": false, "x-ratelimit-reset": false };

/** Options of the limiter, which is registered once for each window; the minute tells its headers. */
export const dayLimit = {
  timeWindow: "1 day",
  max: ({ client }) => client.perDay,
  keyGenerator,
  addHeadersOnExceeding: silent,
};
export const minuteLimit = {
  timeWindow: "1 minute",
  max: ({ client }) => client.perMinute,
  keyGenerator,
};

export function aFastify() {
  // An unknown field is refused, as by all others here, and not dropped.
  const app = Fastify({ ajv: { customOptions: { removeAdditional: false } } });
  app.setErrorHandler((error, request, reply) => {
    const status = error.status ?? error.statusCode ?? 500;
    const code =
      error instanceof Refused ? error.code : status === 429 ? "rate_limit_exceeded" : "invalid_request";
    if (duties) {
      request.refusedFor = code;
      reply.headers(duties.refusal(status) ?? {});
    }
    return reply.code(status).send({ code, message: error.message, status });
  });
  app.decorateRequest("client", null);
  return app;
}
