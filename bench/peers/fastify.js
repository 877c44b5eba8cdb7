// Fastify as its documentation has it: schemas that are compiled, the project's own rate limiter, hooks.
import { DatabaseSync } from "node:sqlite";
import rateLimit from "@fastify/rate-limit";
import { duties } from "./duties.js";
import { aFastify, dayLimit, getPet, listPets, minuteLimit, placeOrder } from "./fastify-app.js";
import { takeDuties, writtenDown } from "./fastify-duties.js";
import { keysOf } from "./keys.js";
import { firstTag, openShop, pageLinks } from "./shop.js";

const shop = openShop(new DatabaseSync(process.env.DATABASE_URL));
const identify = keysOf(shop);
const app = aFastify();
if (duties) {
  takeDuties(app, identify);
} else {
  app.addHook("onRequest", (request, _reply, done) => {
    request.client = identify(request.headers["x-api-key"]);
    done();
  });
  await app.register(rateLimit, dayLimit);
  await app.register(rateLimit, minuteLimit);
}

const aPet = (request, reply) => reply.send(shop.pet(request.params.petId));
const taggedPet = (request, reply) => {
  const { pet, tag } = shop.taggedPet(request.params.petId);
  reply.header("etag", tag);
  return request.headers["if-none-match"] === tag ? reply.code(304).send() : reply.send(pet);
};
app.get("/store/pets/:petId", { ...getPet, ...writtenDown("store.pet") }, duties ? taggedPet : aPet);
app.get("/pets", { ...listPets, ...writtenDown("pets.list") }, (request, reply) => {
  const { pets, next } = shop.pets(request.query);
  const query = request.url.split("?")[1] ?? "";
  return reply.header("link", pageLinks("/pets", query, next)).send(pets);
});
app.post("/store/orders", { ...placeOrder, ...writtenDown("store.order") }, (request, reply) => {
  const made = shop.place(request.client.clientId, request.headers["idempotency-key"], request.body);
  if (duties) reply.header("etag", firstTag);
  return reply.code(201).header("location", `/store/orders/${made.id}`).send(made);
});
console.error(await app.listen({ host: "127.0.0.1", port: 0 }));
