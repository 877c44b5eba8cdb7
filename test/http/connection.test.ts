import { expect, test } from "bun:test";
import { IDLE_SECONDS } from "../../src/http/wire/connection.ts";
import { ARRIVAL_SECONDS } from "../../src/http/wire/inlet.ts";
import { listen } from "../../src/http/wire/listen.ts";
import { LEAST_TAKEN_BYTES } from "../../src/http/wire/outlet.ts";
import type { Reply } from "../../src/http/wire/reply.ts";
import { eventually } from "../cli/command.ts";
import { aCaller, echo, get, ok } from "./caller-end.ts";
import { aWire } from "./wire.ts";

test("an answer that comes late is not lost behind one that was not taken", async () => {
  const late = Promise.withResolvers<Reply>();
  const caller = aCaller((request) => (request.pathname === "/late" ? late.promise : echo(request)));
  caller.takes(10);
  caller.says(get("/soon") + get("/late"));
  expect(caller.heard()).toBe("HTTP/1.1 2");
  late.resolve(ok("/late"));
  await late.promise;
  await Promise.resolve();
  caller.heard();
  caller.takes(Number.POSITIVE_INFINITY);
  caller.connection.drain();
  const rest = caller.heard();
  expect([rest.includes("/soon"), rest.endsWith("\r\n\r\n/late")]).toEqual([true, true]);
});

test("a body that nobody asked for is read over though its caller was kept waiting, and is listened to again", () => {
  const caller = aCaller(echo);
  caller.takes(10);
  caller.says(get("/first", "Content-Length: 60000"));
  caller.heard();
  caller.says("x".repeat(50_000));
  expect(caller.done).toEqual(["pause"]);
  caller.takes(Number.POSITIVE_INFINITY);
  caller.connection.drain();
  expect(caller.done).toEqual(["pause", "resume"]);
  caller.says("x".repeat(10_000) + get("/second"));
  expect(caller.heard()).toEndWith("\r\n\r\n/second");
});

test("a head has its ten seconds from its first byte on, however long it was silent before", () => {
  const caller = aCaller(echo);
  caller.later(IDLE_SECONDS - 2);
  caller.says("GET /pets HTTP/1.1\r\n");
  caller.later(ARRIVAL_SECONDS - 1);
  expect(caller.heard()).toBe("");
  caller.later(1);
  expect(caller.heard()).toStartWith("HTTP/1.1 408 ");
});

test("an empty line is not the beginning of a request", () => {
  const caller = aCaller(echo);
  caller.says("\r");
  caller.says("\n");
  caller.later(ARRIVAL_SECONDS);
  expect(caller.heard()).toBe("");
});

test("a body has ten seconds to arrive, and its connection ends with the answer", async () => {
  let failed: unknown;
  const caller = aCaller(async (request) => {
    if (request.method === "GET") return echo(request);
    await Promise.resolve(request.body(100)).catch((error) => {
      failed = error;
    });
    return ok("done");
  });
  caller.says("POST /pets HTTP/1.1\r\nHost: petstore\r\nContent-Length: 9\r\n\r\n1234");
  caller.later(ARRIVAL_SECONDS - 1);
  await Bun.sleep(0);
  expect(failed).toBeUndefined();
  caller.later(1);
  await Bun.sleep(0);
  expect(failed).toMatchObject({ code: "request_timeout" });
  expect(caller.heard()).toInclude("connection: close");
});

test("an idle connection ends after half a minute, and one that takes nothing is cut off", () => {
  const idle = aCaller(echo);
  idle.says(get("/pets"));
  idle.heard();
  idle.later(IDLE_SECONDS - 1);
  expect(idle.done).toEqual([]);
  idle.later(1);
  expect(idle.done).toEqual(["end"]);
  const deaf = aCaller(echo);
  deaf.takes(10);
  deaf.says(get("/pets"));
  deaf.heard();
  deaf.later(IDLE_SECONDS);
  expect(deaf.done).toEqual(["terminate"]);
});

test("a caller that takes some of a long answer all the time is never cut off, though nobody says that it can take more", () => {
  const long = "x".repeat(3 * LEAST_TAKEN_BYTES);
  const aSlowOne = (bytes: number) => {
    const slow = aCaller(() => ok(long));
    slow.takes(bytes);
    slow.says(get("/pets"));
    let heard = slow.heard();
    while (!heard.endsWith(long) && slow.done.length === 0) {
      slow.takes(bytes);
      slow.later(IDLE_SECONDS);
      heard += slow.heard();
    }
    return [heard.endsWith(long), slow.done];
  };
  expect(aSlowOne(LEAST_TAKEN_BYTES)).toEqual([true, []]);
  // It would keep the whole answer in memory for as long as it likes.
  expect(aSlowOne(LEAST_TAKEN_BYTES - 1)).toEqual([false, ["terminate"]]);
});

test("after a last answer the caller has time to take it, and is never cut off", () => {
  const caller = aCaller(echo);
  caller.says(get("/pets", "Connection: close"));
  expect(caller.heard()).toInclude("connection: close");
  expect(caller.done).toEqual(["shutdown"]);
  // A server that stops leaves it alone.
  caller.connection.release();
  expect(caller.done).toEqual(["shutdown"]);
  caller.later(IDLE_SECONDS);
  expect(caller.done).toEqual(["shutdown", "end"]);
});

test("a connection that is let go ends when its answer was taken, and at once if it has none", () => {
  const idle = aCaller(echo);
  idle.connection.release();
  expect(idle.done).toEqual(["end"]);
  const slow = aCaller(echo);
  slow.takes(10);
  slow.says(get("/pets"));
  slow.heard();
  slow.connection.release();
  expect(slow.done).toEqual([]);
  slow.takes(Number.POSITIVE_INFINITY);
  slow.connection.drain();
  expect(slow.done).toEqual(["end"]);
});

test("an answer that fails ends its connection, and is not counted as under way for ever", async () => {
  const faults: unknown[] = [];
  const listening = listen({
    host: "127.0.0.1",
    port: 0,
    maxConnections: 100,
    onCrowded: () => {},
    isStopping: () => false,
    refuse: ({ status, code }) => ({ status, headerLines: "", body: code }),
    onFault: (error) => void faults.push(error),
    answer({ pathname }) {
      if (pathname === "/now") throw new Error("now");
      return pathname === "/later" ? Promise.reject(new Error("later")) : ok(pathname);
    },
  });
  for (const path of ["/now", "/later"]) {
    using wire = await aWire(`http://127.0.0.1:${listening.port}`);
    wire.say(get("/well") + get(path) + get("/well"));
    expect((await wire.rest()).length).toBeLessThan(3);
    expect([path, listening.underWay]).toEqual([path, 0]);
  }
  expect(faults.map(String)).toEqual(["Error: now", "Error: later"]);
  await listening.stop();
});

test("where connections make room, one that is being answered does not; if all are, who comes is closed", async () => {
  const late = Promise.withResolvers<Reply>();
  const listening = listen({
    host: "127.0.0.1",
    port: 0,
    maxConnections: 2,
    makesRoom: true,
    onCrowded: () => {},
    isStopping: () => false,
    refuse: ({ status, code }) => ({ status, headerLines: "", body: code }),
    onFault: () => {},
    answer: ({ pathname }) => (pathname === "/late" ? late.promise : ok(pathname)),
  });
  const url = `http://127.0.0.1:${listening.port}`;
  using first = await aWire(url);
  using idle = await aWire(url);
  first.say(get("/late"));
  idle.say(get("/soon"));
  expect((await idle.answer()).text).toBe("/soon");
  using second = await aWire(url);
  expect(await idle.rest()).toEqual([]);
  second.say(get("/late"));
  await eventually(() => listening.underWay === 2, 3000);
  const third = await aWire(url).catch(() => null);
  expect((await third?.rest()) ?? []).toEqual([]);
  expect([listening.connections, listening.turnedAway]).toEqual([2, 2]);
  late.resolve(ok("/late"));
  for (const wire of [first, second]) expect((await wire.answer()).text).toBe("/late");
  await listening.stop();
});
