// What is asked of Fastify where it does all that ours does: a hook at each end of a request.
import { duties } from "./duties.js";
import { admission } from "./limits.js";

/** Who asks, and whether they may. By the shared windows: its own limiter, asked by hand to tell of both windows, was slower. */
export function takeDuties(app, identify) {
  const admit = admission(identify);
  app.decorateRequest("begun", null);
  app.decorateRequest("refusedFor", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    request.begun = duties.begin(request.headers["x-request-id"]);
    const { client, headers, refused } = admit(request.headers["x-api-key"], () => request.ip);
    request.client = client;
    reply.headers(request.begun.headers);
    reply.headers(headers);
    done(refused);
  });
}

/** Options of a route whose answers are written down. By hand: a line of pino was slower. */
export function writtenDown(operation) {
  if (!duties) return undefined;
  return {
    onResponse(request, reply, done) {
      const { begun, client, method, url, refusedFor } = request;
      const query = url.indexOf("?");
      const path = query < 0 ? url : url.slice(0, query);
      duties.end(begun, client, method, path, operation, reply.statusCode, refusedFor);
      done();
    },
  };
}
