import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { Person, TestStore } from "../harness.ts";

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  readonly body: any;
}

/** A caller's end of a connection, which says what it is told byte by byte and reads answers strictly. */
export interface Wire extends Disposable {
  say(bytes: string | Uint8Array): void;
  /** A byte in each turn of the event loop, so that each comes alone. */
  sayBytewise(bytes: string | Uint8Array): Promise<void>;
  /** Says that no more will come, and still listens. */
  finish(): void;
  /** The next answer; one to HEAD has no body. */
  answer(method?: string): Promise<Answered>;
  answers(count: number): Promise<Answered[]>;
  /** Every answer until the other side hangs up. */
  rest(): Promise<Answered[]>;
  /** Takes nothing from the network, until it listens again. */
  stopListening(): void;
  listen(): void;
}

export async function aWire(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  let unread: Buffer = Buffer.alloc(0);
  let isEnded = false;
  let changed = Promise.withResolvers<void>();
  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const end = () => {
    isEnded = true;
    tell();
  };
  socket.on("data", (data: Buffer) => {
    unread = unread.length === 0 ? data : Buffer.concat([unread, data]);
    tell();
  });
  socket.on("end", end);
  socket.on("close", end);
  socket.on("error", end);

  const take = (method: string): Answered | null => {
    const end = unread.indexOf("\r\n\r\n");
    if (end < 0) return null;
    const [first = "", ...lines] = unread.toString("latin1", 0, end).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) [\w ]+$/.exec(first)?.[1]);
    if (Number.isNaN(status)) throw new Error(`No answer starts with ${JSON.stringify(first)}`);
    const headers = new Headers();
    for (const line of lines) {
      const [, name, value] = /^([a-z-]+): (.*)$/.exec(line) ?? [];
      if (!name || headers.has(name)) throw new Error(`A header of an answer is ${JSON.stringify(line)}`);
      headers.set(name, value as string);
    }
    const from = end + 4;
    const to = from + (method === "HEAD" ? 0 : Number(headers.get("content-length") ?? 0));
    if (unread.length < to) return null;
    const text = unread.toString("utf8", from, to);
    unread = unread.subarray(to);
    const isJson = text !== "" && headers.get("content-type") === "application/json";
    return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
  const answer = async (method = "GET"): Promise<Answered> => {
    for (;;) {
      const taken = take(method);
      if (taken) return taken;
      if (isEnded) throw new Error(`Hung up after ${JSON.stringify(unread.toString("latin1"))}`);
      await changed.promise;
    }
  };
  return {
    say: (bytes) => void socket.write(bytes),
    async sayBytewise(bytes) {
      for (const byte of Buffer.from(bytes as string)) {
        socket.write(Buffer.of(byte));
        await setImmediate();
      }
    },
    finish: () => void socket.end(),
    answer,
    async answers(count) {
      const taken: Answered[] = [];
      while (taken.length < count) taken.push(await answer());
      return taken;
    },
    async rest() {
      while (!isEnded) await changed.promise;
      const taken: Answered[] = [];
      while (unread.length > 0) taken.push(await answer());
      return taken;
    },
    stopListening: () => void socket.pause(),
    listen: () => void socket.resume(),
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** A request's bytes, with the Host and the key that it needs. */
export function asked(by: Person, line: string, ...headers: string[]): string {
  const key = by.key === "" ? [] : [`X-API-Key: ${by.key}`];
  return `${[`${line} HTTP/1.1`, "Host: petstore", ...key, ...headers].join("\r\n")}\r\n\r\n`;
}

/** A request with a JSON body, whose length it tells. */
export function told(by: Person, line: string, body: unknown, ...headers: string[]): string {
  const text = JSON.stringify(body);
  const length = `Content-Length: ${Buffer.byteLength(text)}`;
  return asked(by, line, "Content-Type: application/json", length, ...headers) + text;
}

/** A request with a body in chunks, given as they go over the wire. */
export function inChunks(by: Person, line: string, ...chunks: string[]): string {
  return asked(by, line, "Content-Type: application/json", "Transfer-Encoding: chunked") + chunks.join("");
}

/** The requests that were logged. */
export function loggedRequests(store: TestStore): Record<string, unknown>[] {
  return store
    .logged()
    .split("\n")
    .filter((line) => line.includes('"message":"request"'))
    .map((line) => JSON.parse(line));
}
