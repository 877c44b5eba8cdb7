import { expect, test } from "bun:test";
import { IDLE_SECONDS } from "../../src/http/wire/connection.ts";
import type { Reply } from "../../src/http/wire/reply.ts";
import type { Sink, Stream } from "../../src/http/wire/stream.ts";
import { aCaller, get } from "./caller-end.ts";

/** A body that a test sends by hand, and what it is told. */
function aStream() {
  const told: string[] = [];
  const started: { sink?: Sink } = {};
  const stream: Stream = {
    start(sink) {
      told.push("start");
      started.sink = sink;
    },
    drained: () => void told.push("drained"),
    closed: () => void told.push("closed"),
  };
  const reply: Reply = { status: 200, headerLines: "", body: null, stream };
  return {
    told,
    reply,
    get sink() {
      return started.sink as Sink;
    },
  };
}

test("a body that keeps coming is sent in chunks, and its end is the connection's", () => {
  const stream = aStream();
  const caller = aCaller(() => stream.reply);
  caller.says(get("/stream"));
  expect(caller.heard()).toBe("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n");
  expect(stream.sink.send("Rex \u{1f415}")).toBe(true);
  stream.sink.send("Tom");
  expect(caller.heard()).toBe("8\r\nRex \u{1f415}\r\n3\r\nTom\r\n");
  stream.sink.end();
  expect(caller.heard()).toBe("0\r\n\r\n");
  expect(caller.done).toEqual(["shutdown"]);
  expect(stream.told.at(-1)).toBe("closed");
  expect(stream.sink.send("more")).toBe(false);
  expect(caller.heard()).toBe("");
});

test("an old caller gets it as it is, and knows its end by the connection's", () => {
  const stream = aStream();
  const caller = aCaller(() => stream.reply);
  caller.says("GET /stream HTTP/1.0\r\n\r\n");
  stream.sink.send("Rex");
  expect(caller.heard()).toBe("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nRex");
  stream.sink.end();
  expect(caller.done).toEqual(["shutdown"]);
});

test("whoever asks for the head alone gets no body, and nothing starts", () => {
  const stream = aStream();
  const caller = aCaller(() => stream.reply);
  caller.says(get("/stream").replace("GET", "HEAD"));
  expect(caller.heard()).toBe("HTTP/1.1 200 OK\r\n\r\n");
  expect(stream.told).toEqual([]);
});

test("a stream is idle for as long as it wants, and what is asked behind it is not answered", () => {
  const stream = aStream();
  let asked = 0;
  const caller = aCaller(() => {
    asked += 1;
    return stream.reply;
  });
  caller.says(get("/stream") + get("/more"));
  caller.heard();
  for (let hours = 0; hours < 3; hours++) caller.later(3600);
  expect([caller.done, asked]).toEqual([[], 1]);
  stream.sink.send("still there");
  expect(caller.heard()).toContain("still there");
  stream.sink.end();
  caller.heard();
  expect(asked).toBe(1);
});

test("a caller that takes nothing is told to the stream at once, and cut off after a while", () => {
  const stream = aStream();
  const caller = aCaller(() => stream.reply);
  caller.says(get("/stream"));
  caller.heard();
  caller.later(3600);
  caller.takes(5);
  stream.sink.send("x".repeat(100));
  caller.heard();
  expect(stream.sink.send("y")).toBe(false);
  caller.later(IDLE_SECONDS - 1);
  expect(caller.done).toEqual([]);
  caller.later(1);
  expect(caller.done).toEqual(["terminate"]);
});

test("a caller that takes a little now and then is waited for, and the stream hears when it has all", () => {
  const stream = aStream();
  const caller = aCaller(() => stream.reply);
  caller.says(get("/stream"));
  caller.heard();
  caller.takes(5);
  stream.sink.send("x".repeat(100));
  caller.heard();
  stream.told.length = 0;
  for (let times = 0; times < 5; times++) {
    caller.later(IDLE_SECONDS - 1);
    caller.takes(10);
    caller.connection.drain();
  }
  expect([caller.done, stream.told]).toEqual([[], []]);
  caller.takes(Number.POSITIVE_INFINITY);
  caller.connection.drain();
  expect(stream.told).toEqual(["drained"]);
});

test.each(["closed", "halfClosed", "release"] as const)(
  "a stream hears that its connection is over: %s",
  (how) => {
    const stream = aStream();
    const caller = aCaller(() => stream.reply);
    caller.says(get("/stream"));
    caller.heard();
    caller.connection[how]();
    expect(stream.told.filter((each) => each === "closed")).toHaveLength(1);
    expect(caller.heard()).toBe(how === "closed" ? "" : "0\r\n\r\n");
    expect(stream.sink.send("more")).toBe(false);
  },
);

test("a stream whose caller is gone before it was answered never starts", async () => {
  const stream = aStream();
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const caller = aCaller(() => promise);
  caller.says(get("/stream"));
  caller.connection.closed();
  resolve(stream.reply);
  await promise;
  await Promise.resolve();
  expect(stream.told).toEqual(["closed"]);
});
