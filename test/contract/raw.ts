import type { Reply, TestStore } from "../harness.ts";
import { holdAgainstContract } from "../held.ts";

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** One line each, so that a name may come twice. */
  readonly headers: readonly (readonly [string, string])[];
  /** Written as it is: a test may send less than it declares. */
  readonly body?: string | Uint8Array;
  readonly protocol?: "HTTP/1.0" | "HTTP/1.1";
  /** Left out where a test gives its own, or none. */
  readonly hasNoHost?: boolean;
}

/** A request written byte by byte, for what fetch would set right. */
export async function raw(url: string, request: RawRequest): Promise<Reply> {
  const { method, path, headers, body = "", protocol = "HTTP/1.1", hasNoHost = false } = request;
  const { hostname, port, host } = new URL(url);
  const lines = [
    `${method} ${path} ${protocol}`,
    ...(hasNoHost ? [] : [`Host: ${host}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  let unsent = Buffer.concat([head, Buffer.from(body as string)]);
  const write = (socket: { write(data: Uint8Array): number }) => {
    unsent = unsent.subarray(socket.write(unsent));
  };
  const received: Buffer[] = [];
  const ended = Promise.withResolvers<void>();
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: write,
      drain: write,
      data(socket, data) {
        received.push(Buffer.from(data));
        // A stream has no end: its head is enough.
        if (/content-type: text\/event-stream\r\n[\s\S]*\r\n\r\n/.test(Buffer.concat(received).toString()))
          socket.end();
      },
      close: () => ended.resolve(),
      error: (_, error) => ended.reject(error),
    },
  });
  await ended.promise;
  const reply = parsed(Buffer.concat(received).toString());
  holdAgainstContract(method, path, reply);
  return reply;
}

/** The headers of a call with this key, and of a JSON body if it has one. */
export function rawHeaders(key: string, body?: string | Uint8Array): [string, string][] {
  const headers: [string, string][] = key === "" ? [] : [["X-API-Key", key]];
  if (body !== undefined)
    headers.push(["Content-Type", "application/json"], ["Content-Length", String(Buffer.byteLength(body))]);
  return headers;
}

/** One chunk of a body whose length is not declared. */
export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

function parsed(answer: string): Reply {
  const [head = "", text = ""] = answer.split(/\r\n\r\n(.*)/s);
  const [first = "", ...lines] = head.split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]));
  const isJson = text !== "" && headers.get("content-type") === "application/json";
  return { status: Number(first.split(" ")[1]), headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** A request of which half is sent, so that the server has it under way until it is finished. */
export async function halfSent({ url, staff }: Pick<TestStore, "url" | "staff">) {
  const { promise: answered, resolve: release } = Promise.withResolvers<void>();
  const { hostname, port, host } = new URL(url);
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: { open() {}, data: () => release(), close: () => release() },
  });
  socket.write(
    `POST /categories HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${staff.key}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"name":`,
  );
  return {
    /** Sends the rest, and waits for the answer. */
    async finish() {
      socket.write('"Birds"    }');
      await answered;
    },
    [Symbol.dispose]: () => void socket.end(),
  };
}
