import { afterAll, beforeAll, expect, test } from "bun:test";
import { METHODS } from "node:http";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { Failure } from "../../src/core/failure.ts";
import { type Listening, listen } from "../../src/http/wire/listen.ts";
import type { Reply } from "../../src/http/wire/reply.ts";
import type { Incoming } from "../../src/http/wire/request.ts";
import { seed } from "../seed.ts";
import { byteStrings } from "./byte-strings.ts";
import { aWire } from "./wire.ts";

const BODY_BYTES = 2 ** 20;
const numRuns = Number(process.env.FUZZ_RUNS ?? 3000);
const TIMEOUT_MS = 20 * Math.max(numRuns, 3000);

/** What Node understood of a request. */
interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A character a byte. */
  readonly body: string;
}

interface Understood {
  readonly request: Incoming;
  readonly body: string;
}

let node: Awaited<ReturnType<typeof aNode>>;
let ours: Listening;
let understood: Understood[] = [];

beforeAll(async () => {
  node = await aNode();
  ours = listen({
    host: "127.0.0.1",
    port: 0,
    maxConnections: Number.POSITIVE_INFINITY,
    isStopping: () => false,
    refuse,
    onCrowded: () => {},
    onFault: (error) => {
      throw error;
    },
    async answer(request) {
      try {
        const body = Buffer.from(await request.body(BODY_BYTES)).toString("latin1");
        understood.push({ request, body });
        return { status: 200, headerLines: "", body: "{}" };
      } catch (error) {
        return refuse(error as Failure);
      }
    },
  });
});
afterAll(async () => {
  await ours.stop(true);
  await node.stop();
});

function refuse(error: Failure): Reply {
  if (!(error instanceof Failure)) throw error;
  return { status: error.status, headerLines: "", body: "{}" };
}

/** A server of Node's own, which tells what it understood of each connection when that has ended. */
async function aNode() {
  const program = join(import.meta.dir, "node-server.mjs");
  const child = Bun.spawn(["node", program], { stdout: "pipe", stderr: "inherit", stdin: "ignore" });
  const lines = linesOf(child.stdout);
  const port = Number((await lines.next()).value);
  return {
    async hears(bytes: Buffer): Promise<Heard[]> {
      using wire = await aWire(`http://127.0.0.1:${port}`);
      wire.say(bytes);
      wire.finish();
      const { value } = await lines.next();
      return JSON.parse(value as string);
    },
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let unread = "";
  const decoder = new TextDecoder();
  for await (const part of stream) {
    const lines = (unread + decoder.decode(part, { stream: true })).split("\n");
    unread = lines.pop() as string;
    yield* lines;
  }
}

/** What we answer to bytes, and understand of them, in packets of this length. */
async function weHear(bytes: Buffer, packetBytes = bytes.length) {
  understood = [];
  using wire = await aWire(`http://127.0.0.1:${ours.port}`);
  for (let at = 0; at < bytes.length; at += packetBytes) {
    if (at > 0) await setImmediate();
    wire.say(bytes.subarray(at, at + packetBytes));
  }
  wire.finish();
  const answers = await wire.rest();
  return { answers, heard: understood };
}

/** What Node refuses and we take, and why; where one of these is met, no more is compared. */
const taken: Record<string, (request: Incoming, text: string) => boolean> = {
  "Node knows methods by a list; we answer 405 to those that a path has not": ({ method }) =>
    !METHODS.includes(method),
  "Node takes no UTF-8 in an address; we read it as if it were escaped": ({ url }) =>
    /%[89A-F][\dA-F]/.test(url),
  "Node takes no tab behind the length or the coding; it is blank space as any other": (_, text) =>
    /:[ \t]*(\d+|chunked) *\t[ \t]*\r\n/i.test(text),
};

/** One request, as both tell it. */
function compared({ request, body }: Understood, other: Heard | undefined) {
  const names = Object.keys(other?.headers ?? {});
  const headers = Object.fromEntries(names.map((name) => [name, request.headers.get(name)]));
  return { method: request.method, url: request.url, headers, body };
}

test(
  "whatever we take of bytes by chance, Node takes and understands alike",
  async () => {
    let both = 0;
    let refusals = 0;
    const property = fc.asyncProperty(byteStrings(), async (text) => {
      const bytes = Buffer.from(text, "latin1");
      const [theirs, { answers, heard }] = await Promise.all([node.hears(bytes), weHear(bytes)]);
      const statuses = answers.map(({ status }) => status);
      // Each request has its answer, and a refusal is the last.
      expect(statuses.filter((status) => status === 200)).toHaveLength(heard.length);
      expect(statuses.slice(0, -1).filter((status) => status !== 200)).toEqual([]);
      if ((statuses.at(-1) ?? 0) > 200) refusals++;
      for (const [at, each] of heard.entries()) {
        if (Object.values(taken).some((isTaken) => isTaken(each.request, text))) return;
        const other = theirs[at];
        expect(compared(each, other)).toEqual(other as Heard);
        both++;
      }
      const hasHungUp = answers.at(-1)?.headers.get("connection") === "close";
      if (!hasHungUp) expect(theirs).toHaveLength(heard.length);
    });
    await fc.assert(property, { seed, numRuns });
    // Else the bytes are too odd, or not odd enough, to say anything.
    expect(both).toBeGreaterThan(numRuns / 4);
    expect(refusals).toBeGreaterThan(numRuns / 4);
  },
  TIMEOUT_MS,
);

test(
  "bytes by chance are understood alike in whichever packets they come",
  async () => {
    const packets = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 100 }));
    const property = fc.asyncProperty(byteStrings(), packets, async (text, packetBytes) => {
      const bytes = Buffer.from(text, "latin1");
      const [whole, cut] = [await weHear(bytes), await weHear(bytes, packetBytes)];
      const told = ({ answers, heard }: typeof whole) => ({
        statuses: answers.map(({ status }) => status),
        heard: heard.map(({ request: { method, url }, body }) => ({ method, url, body })),
      });
      expect(told(cut)).toEqual(told(whole));
    });
    await fc.assert(property, { seed, numRuns: numRuns / 8 });
  },
  TIMEOUT_MS,
);
