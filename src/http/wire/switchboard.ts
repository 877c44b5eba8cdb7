import type { Failure } from "../../core/failure.ts";
import type { Awaitable } from "../../core/ports.ts";
import type { Connection } from "./connection.ts";
import type { Reply } from "./reply.ts";
import type { Incoming } from "./request.ts";

/** What the connections of a server have in common. */
export interface Switchboard {
  /** Seconds, by which deadlines are told. */
  seconds: number;
  /** Requests that are being answered. */
  underWay: number;
  /** The `Date` header's line. */
  dateLine: string;
  /** Lets a connection send what it has to say, at the end of this turn of the event loop. */
  hasToSend(connection: Connection): void;
  /** What should never be thrown was: the connection ends. */
  broken(connection: Connection, error: unknown): void;
  /** Never fails. */
  answer(request: Incoming): Awaitable<Reply>;
  /** What is said to what is no request. */
  refuse(failure: Failure): Reply;
  /** Whether an answer is the last on its connection, so that its caller goes elsewhere. */
  isStopping(): boolean;
}
