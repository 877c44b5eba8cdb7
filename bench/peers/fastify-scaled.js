// Fastify for several instances, as its documentation has it: pg with its pool, the rate limiter on Redis.
import rateLimit from "@fastify/rate-limit";
import { Redis } from "ioredis";
import pg from "pg";
import { aFastify, dayLimit, getPet, listPets, minuteLimit, placeOrder } from "./fastify-app.js";
import { awaitedKeysOf } from "./keys.js";
import { pageLinks } from "./shop.js";
import { openPostgresShop } from "./shop-postgres.js";

/** As many as ours has by default. */
const CONNECTIONS = 10;

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: CONNECTIONS,
  pipeline: true,
});
// What the limiter's documentation recommends for a Redis that does not answer.
const redis = new Redis(process.env.REDIS_URL, {
  connectTimeout: 500,
  maxRetriesPerRequest: 1,
  enableAutoPipelining: true,
});
const shop = openPostgresShop(pool);
const identify = awaitedKeysOf(shop);
const app = aFastify();
app.addHook("onRequest", async (request) => {
  request.client = await identify(request.headers["x-api-key"]);
});
await app.register(rateLimit, { ...dayLimit, redis, nameSpace: "day-" });
await app.register(rateLimit, { ...minuteLimit, redis, nameSpace: "minute-" });

app.get("/store/pets/:petId", getPet, (request) => shop.pet(request.params.petId));
app.get("/pets", listPets, async (request, reply) => {
  const { pets, next } = await shop.pets(request.query);
  const query = request.url.split("?")[1] ?? "";
  reply.header("link", pageLinks("/pets", query, next));
  return pets;
});
app.post("/store/orders", placeOrder, async (request, reply) => {
  const made = await shop.place(request.client.clientId, request.headers["idempotency-key"], request.body);
  reply.code(201).header("location", `/store/orders/${made.id}`);
  return made;
});
console.error(await app.listen({ host: "127.0.0.1", port: 0 }));
