import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Petstore, type PetstoreOptions } from "../../client/src/index.ts";
import { type MovedClock, movedClock } from "./moved-clock.ts";

/** What arrived at the server, and when by the moved clock. */
export interface Arrival {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** What the server does with one request. */
export type Step = (exchange: { response: ServerResponse; arrival: Arrival; clock: MovedClock }) => void;

export interface Scripted extends AsyncDisposable {
  readonly url: string;
  readonly clock: MovedClock;
  readonly arrivals: Arrival[];
  /** When each request came. */
  readonly times: () => number[];
  /** A client of it that lives by the moved clock. */
  client(options?: Partial<PetstoreOptions>): Petstore;
}

/** A real server on this machine that follows a script, one step for each request; the last step stays. */
export async function scripted(script: readonly Step[] | Step): Promise<Scripted> {
  const steps = [script].flat();
  const clock = movedClock();
  const arrivals: Arrival[] = [];
  const server = createServer(async (request, response) => {
    const at = clock.now();
    let body = "";
    for await (const part of request) body += part;
    const { method = "", url: path = "", headers } = request;
    const arrival = { at, method, path, headers, body };
    arrivals.push(arrival);
    const step = steps[Math.min(arrivals.length, steps.length) - 1] as Step;
    step({ response, arrival, clock });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    clock,
    arrivals,
    times: () => arrivals.map(({ at }) => at),
    client: (options = {}) =>
      new Petstore({
        baseUrl: url,
        apiKey: "ps_live_test",
        fetch: clock.fetch,
        surroundings: clock.surroundings,
        ...options,
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with JSON, or with text as it is. */
export function reply(status: number, body: unknown = [], headers: Record<string, string> = {}): Step {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", connection: "close", ...headers });
    response.end(status === 204 ? undefined : text);
  };
}

/** Answers with the Error object. */
export function refuse(status: number, code: string, headers: Record<string, string> = {}): Step {
  return reply(status, { code, message: `It is ${code}.`, status }, headers);
}

/** Cuts the connection before anything was said. */
export const resetBeforeHeaders: Step = ({ response }) => void response.socket?.destroy();

/** Cuts the connection in the middle of the body. */
export const resetMidBody: Step = ({ response }) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('[{"id":1,');
  setTimeout(() => response.socket?.destroy(), 5);
};

/** Says nothing, for ever. */
export const slowHeaders: Step = ({ clock }) => clock.hold();

/** Begins the body, and never goes on. */
export const stalledBody: Step = ({ response, clock }) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('[{"id":1,');
  setTimeout(() => clock.hold(), 20);
};
