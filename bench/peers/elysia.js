// Elysia as its documentation has it: shapes of its own `t`, compiled handlers.
import { Database } from "bun:sqlite";
import { Elysia, t } from "elysia";
import { duties } from "./duties.js";
import { keysOf } from "./keys.js";
import { admission, spent, windows } from "./limits.js";
import { firstTag, openShop, pageLinks, Refused } from "./shop.js";

const id = t.Integer({ minimum: 1 });
const status = t.Union([t.Literal("available"), t.Literal("pending"), t.Literal("sold")]);

const shop = openShop(new Database(process.env.DATABASE_URL));
const identify = keysOf(shop);

/** Who asks, and whether they may. */
function admitting() {
  const admit = windows();
  return ({ request, set }) => {
    const client = identify(request.headers.get("x-api-key"));
    const { headers, isSpent, retryAfter } = admit(client);
    Object.assign(set.headers, headers);
    if (isSpent) {
      set.headers["retry-after"] = retryAfter;
      throw spent;
    }
    return { client };
  };
}

/** The same with all duties. */
function admittingDutifully() {
  const admit = admission(identify);
  return ({ request, set, path, server }) => {
    const begun = duties.begin(request.headers.get("x-request-id"));
    const addressOf = () => server.requestIP(request).address;
    const { client, headers, refused } = admit(request.headers.get("x-api-key"), addressOf);
    Object.assign(set.headers, begun.headers, headers);
    if (!refused) return { client, begun };
    duties.end(begun, client, request.method, path, undefined, refused.status, refused.code);
    throw refused;
  };
}

const taggedPet = ({ params, request, path, set, client, begun }) => {
  const { pet, tag } = shop.taggedPet(params.petId);
  const isKnown = request.headers.get("if-none-match") === tag;
  set.headers.etag = tag;
  if (isKnown) set.status = 304;
  duties.end(begun, client, "GET", path, "store.pet", isKnown ? 304 : 200);
  return isKnown ? null : pet;
};
// Not normalised: an unknown field is refused, as by all others here, and not dropped.
const app = new Elysia({ normalize: false })
  .onError(({ code, error, set, request, path, client, begun }) => {
    const isInvalid = code === "VALIDATION" || code === "PARSE";
    const refused = error instanceof Refused ? error : undefined;
    const status = refused?.status ?? (isInvalid ? 422 : 500);
    const reason = refused?.code ?? (isInvalid ? "invalid_request" : "internal_error");
    set.status = status;
    // Whoever was not admitted is written down already.
    if (begun) {
      Object.assign(set.headers, duties.refusal(status));
      duties.end(begun, client, request.method, path, undefined, status, reason);
    }
    return { code: reason, message: error.message, status };
  })
  .derive(duties ? admittingDutifully() : admitting())
  .get("/store/pets/:petId", duties ? taggedPet : ({ params }) => shop.pet(params.petId), {
    params: t.Object({ petId: t.Integer({ minimum: 1 }) }),
  })
  .get(
    "/pets",
    ({ query, request, path, set, client, begun }) => {
      const { pets, next } = shop.pets(query);
      if (duties) duties.end(begun, client, "GET", path, "pets.list", 200);
      set.headers.link = pageLinks("/pets", request.url.split("?")[1] ?? "", next);
      return pets;
    },
    {
      query: t.Object({
        status: t.Optional(status),
        name: t.Optional(t.String({ minLength: 1, maxLength: 200 })),
        limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
        cursor: t.Optional(t.String({ maxLength: 2000 })),
      }),
    },
  )
  .post(
    "/store/orders",
    ({ body, client, request, path, set, begun }) => {
      const made = shop.place(client.clientId, request.headers.get("idempotency-key") ?? undefined, body);
      set.status = 201;
      set.headers.location = `/store/orders/${made.id}`;
      if (duties) {
        set.headers.etag = firstTag;
        duties.end(begun, client, "POST", path, "store.order", 201);
      }
      return made;
    },
    {
      body: t.Object(
        { petId: id, quantity: t.Integer({ minimum: 1, maximum: 2147483647, default: 1 }) },
        { additionalProperties: false },
      ),
    },
  )
  .listen({ hostname: "127.0.0.1", port: 0 });
console.error(`http://127.0.0.1:${app.server.port}`);
