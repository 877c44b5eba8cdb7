// Fastify as its documentation has it: schemas that are compiled, the project's own rate limiter, hooks.
import { DatabaseSync } from "node:sqlite";
import rateLimit from "@fastify/rate-limit";
import { aFastify, dayLimit, getPet, listPets, minuteLimit, placeOrder } from "./fastify-app.js";
import { keysOf } from "./keys.js";
import { openShop, pageLinks } from "./shop.js";

const shop = openShop(new DatabaseSync(process.env.DATABASE_URL));
const identify = keysOf(shop);
const app = aFastify();
app.addHook("onRequest", (request, _reply, done) => {
  request.client = identify(request.headers["x-api-key"]);
  done();
});
await app.register(rateLimit, dayLimit);
await app.register(rateLimit, minuteLimit);

app.get("/store/pets/:petId", getPet, (request, reply) => reply.send(shop.pet(request.params.petId)));
app.get("/pets", listPets, (request, reply) => {
  const { pets, next } = shop.pets(request.query);
  const query = request.url.split("?")[1] ?? "";
  return reply.header("link", pageLinks("/pets", query, next)).send(pets);
});
app.post("/store/orders", placeOrder, (request, reply) => {
  const made = shop.place(request.client.clientId, request.headers["idempotency-key"], request.body);
  return reply.code(201).header("location", `/store/orders/${made.id}`).send(made);
});
console.error(await app.listen({ host: "127.0.0.1", port: 0 }));
