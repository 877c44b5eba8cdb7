// What is asked of Fastify where it does all that ours does: hooks at both ends of a request, and the limiter asked by hand.
import rateLimit from "@fastify/rate-limit";
import { anonymous, duties } from "./duties.js";
import { spent } from "./limits.js";

/** Whoever has no valid key is counted by address. */
const keyGenerator = (request) => request.client?.clientId ?? request.ip;

export async function takeDuties(app, identify) {
  await app.register(rateLimit, { global: false });
  const limited = (timeWindow, name) =>
    app.createRateLimit({ timeWindow, keyGenerator, max: ({ client }) => (client ?? anonymous)[name] });
  const ofDay = limited("1 day", "perDay");
  const ofMinute = limited("1 minute", "perMinute");
  app.decorateRequest("begun", null);
  app.decorateRequest("refusedFor", undefined);

  app.addHook("onRequest", async (request, reply) => {
    request.begun = duties.begin(request.headers["x-request-id"]);
    let refused;
    try {
      request.client = identify(request.headers["x-api-key"]);
    } catch (error) {
      refused = error;
    }
    const day = await ofDay(request);
    const minute = await ofMinute(request);
    const tighter = day.isExceeded ? day : minute;
    reply.headers(request.begun.headers);
    reply.headers(duties.rates(windowOf(minute), windowOf(day)));
    reply.header("x-ratelimit-limit", tighter.max);
    reply.header("x-ratelimit-remaining", tighter.remaining);
    reply.header("x-ratelimit-reset", tighter.ttlInSeconds);
    if (tighter.isExceeded) {
      reply.header("retry-after", tighter.ttlInSeconds);
      throw spent;
    }
    if (refused) throw refused;
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { begun, client, method, url, routeOptions, refusedFor } = request;
    const query = url.indexOf("?");
    const path = query < 0 ? url : url.slice(0, query);
    duties.end(begun, client, method, path, routeOptions.url, reply.statusCode, refusedFor);
    done();
  });
}

function windowOf({ max, remaining, ttlInSeconds }) {
  return { limit: max, remaining, seconds: ttlInSeconds };
}
