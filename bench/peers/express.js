// Express as its documentation has it: middleware, express-rate-limit, and zod for what comes in.
import { DatabaseSync } from "node:sqlite";
import express from "express";
import { rateLimit } from "express-rate-limit";
import { z } from "zod";
import { duties } from "./duties.js";
import { keysOf } from "./keys.js";
import { admission, DAY_MS, MINUTE_MS, spent } from "./limits.js";
import { firstTag, openShop, pageLinks } from "./shop.js";

const petId = z.coerce.number().int().min(1);
const newOrder = z.strictObject({
  petId: z.int().min(1),
  quantity: z.int().min(1).max(2147483647).default(1),
});
const page = z.object({
  status: z.enum(["available", "pending", "sold"]).optional(),
  name: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().max(2000).optional(),
});

const shop = openShop(new DatabaseSync(process.env.DATABASE_URL));
const identify = keysOf(shop);
const app = express();
app.disable("x-powered-by");
// A hash of every body; nobody else here computes one.
app.disable("etag");

if (duties) {
  app.use(dutifully());
} else {
  app.use((request, _response, next) => {
    request.client = identify(request.get("x-api-key"));
    next();
  });
  app.use(limited(DAY_MS, ({ client }) => client.perDay, false));
  app.use(limited(MINUTE_MS, ({ client }) => client.perMinute, true));
}

app.get("/store/pets/:petId", (request, response) => {
  const id = petId.parse(request.params.petId);
  if (!duties) return response.json(shop.pet(id));
  const { pet, tag } = shop.taggedPet(id);
  response.set("etag", tag);
  return request.get("if-none-match") === tag ? response.status(304).end() : response.json(pet);
});
app.get("/pets", (request, response) => {
  const { pets, next } = shop.pets(page.parse(request.query));
  const query = request.originalUrl.split("?")[1] ?? "";
  response.set("link", pageLinks("/pets", query, next)).json(pets);
});
app.post("/store/orders", express.json(), (request, response) => {
  const made = shop.place(
    request.client.clientId,
    request.get("idempotency-key"),
    newOrder.parse(request.body),
  );
  if (duties) response.set("etag", firstTag);
  response.status(201).location(`/store/orders/${made.id}`).json(made);
});
app.use((error, request, response, _next) => {
  const isInvalid = error instanceof z.ZodError;
  const status = isInvalid ? 422 : (error.status ?? 500);
  const code = isInvalid ? "invalid_request" : (error.code ?? "internal_error");
  if (duties) {
    request.refusedFor = code;
    response.set(duties.refusal(status) ?? {});
  }
  response.status(status).json({ code, message: error.message, status });
});
const server = app.listen(0, "127.0.0.1", () => console.error(`http://127.0.0.1:${server.address().port}`));

function limited(windowMs, limit, legacyHeaders) {
  return rateLimit({
    windowMs,
    limit,
    legacyHeaders,
    standardHeaders: false,
    keyGenerator: ({ client }) => String(client.clientId),
    handler: () => {
      throw spent;
    },
  });
}

/** Who asks, and whether they may, by the shared windows, which are faster; with the answer it is written down. */
function dutifully() {
  const admit = admission(identify);
  return (request, response, next) => {
    const begun = duties.begin(request.get("x-request-id"));
    const { client, headers, refused } = admit(request.get("x-api-key"), () => request.ip);
    request.client = client;
    response.set(begun.headers);
    response.set(headers);
    response.on("finish", () => {
      const { method, path, route, refusedFor } = request;
      duties.end(begun, client, method, path, route?.path, response.statusCode, refusedFor);
    });
    next(refused);
  };
}
