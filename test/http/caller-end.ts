import type { Awaitable } from "../../src/core/ports.ts";
import { Connection } from "../../src/http/wire/connection.ts";
import type { Reply } from "../../src/http/wire/reply.ts";
import type { Incoming } from "../../src/http/wire/request.ts";
import type { Switchboard } from "../../src/http/wire/switchboard.ts";

/** A caller's end whose network takes no more than it is told to, and a clock that is moved by hand. */
export function aCaller(answer: (request: Incoming) => Awaitable<Reply>) {
  let taken = "";
  let room = Number.POSITIVE_INFINITY;
  const done: string[] = [];
  const speakers: Connection[] = [];
  const socket = {
    remoteAddress: "192.0.2.1",
    write(data: string | Uint8Array) {
      const bytes = Buffer.from(data as string).subarray(0, room);
      room -= bytes.length;
      taken += bytes.toString();
      return bytes.length;
    },
    end: () => done.push("end"),
    shutdown: () => done.push("shutdown"),
    terminate: () => done.push("terminate"),
    pause: () => done.push("pause"),
    resume: () => done.push("resume"),
  };
  const board: Switchboard = {
    seconds: 100,
    underWay: 0,
    dateLine: "",
    hasToSend: (speaker) => speakers.push(speaker),
    broken: (_, error) => {
      throw error;
    },
    answer,
    refuse: ({ status, code }) => ({ status, headerLines: "", body: code }),
    isStopping: () => false,
  };
  const connection = new Connection(socket as never, board);
  return {
    connection,
    done,
    /** What was sent since the last time. */
    heard() {
      for (const speaker of speakers.splice(0)) speaker.send();
      const text = taken;
      taken = "";
      return text;
    },
    says: (text: string) => connection.receive(Buffer.from(text)),
    takes(bytes: number) {
      room = bytes;
    },
    later(seconds: number) {
      board.seconds += seconds;
      connection.tick();
    },
  };
}

export const ok = (body: string): Reply => ({ status: 200, headerLines: "", body });
export const get = (path: string, ...headers: string[]) =>
  `${[`GET ${path} HTTP/1.1`, "Host: petstore", ...headers].join("\r\n")}\r\n\r\n`;
export const echo = ({ pathname }: Incoming) => ok(pathname);
