import type { Socket } from "bun";
import { Failure } from "../../core/failure.ts";
import type { Awaitable } from "../../core/ports.ts";
import type { Head } from "./head.ts";
import { endedEarly, Inlet } from "./inlet.ts";
import { Outlet } from "./outlet.ts";
import { type Reply, written } from "./reply.ts";
import { type Incoming, Request } from "./request.ts";

/** Time for a request line and headers, and then for a body, to arrive. */
export const ARRIVAL_SECONDS = 10;
/** How long a connection is kept without a request, or without taking what is sent to it. */
export const IDLE_SECONDS = 30;
/** After the last answer the caller has this long to take it and hang up. */
const LINGER_SECONDS = 2;

const CLOSE = "connection: close\r\n";
const KEEP_ALIVE = "connection: keep-alive\r\n";

/** What the connections of a server have in common. */
export interface Switchboard {
  /** Seconds since the start, by which deadlines are told. */
  seconds: number;
  /** Requests that are being answered. */
  underWay: number;
  /** The `Date` header's line. */
  dateLine: string;
  /** Lets a connection send what it has to say, at the end of this turn of the event loop. */
  hasToSend(connection: Connection): void;
  /** Never fails. */
  answer(request: Incoming): Awaitable<Reply>;
  /** What is said to what is no request. */
  refuse(failure: Failure): Reply;
  /** Whether an answer is the last on its connection, so that its caller goes elsewhere. */
  isStopping(): boolean;
}

/** One caller's connection: its requests are answered one by one, in the order in which they came. */
export class Connection {
  readonly #socket: Socket<Connection>;
  readonly #board: Switchboard;
  readonly #inlet = new Inlet();
  readonly #outlet: Outlet;
  #peer: string | undefined;
  /** The request that is being answered. */
  #head: Head | null = null;
  #deadline: number;
  #isPaused = false;
  /** The caller sends no more. */
  #isHalfClosed = false;
  /** Nothing more is answered. */
  #isOver = false;

  constructor(socket: Socket<Connection>, board: Switchboard) {
    this.#socket = socket;
    this.#outlet = new Outlet(socket);
    this.#board = board;
    this.#deadline = board.seconds + IDLE_SECONDS;
  }

  get peer(): string {
    this.#peer ??= this.#socket.remoteAddress;
    return this.#peer ?? "unknown";
  }

  /** The body of the request that is being answered. */
  body(limitBytes: number): Awaitable<Uint8Array> {
    return this.#inlet.body(limitBytes, () => {
      if (this.#isHalfClosed || this.#isOver) throw endedEarly();
      if (this.#head?.fields.expectsContinue && !this.#head.isOld) this.#say("HTTP/1.1 100 Continue\r\n\r\n");
      this.#allow(ARRIVAL_SECONDS);
      this.#resume();
    });
  }

  receive(data: Buffer): void {
    if (this.#isOver) return;
    this.#inlet.receive(data);
    if (!this.#isBusy) this.#proceed();
    else if (this.#inlet.isFull) this.#pause();
  }

  /** Sends what was said, and goes on with what has come. */
  send(): void {
    if (this.#outlet.send()) this.#sent();
  }

  /** The caller can take more. */
  drain(): void {
    if (this.#outlet.isSent) return;
    this.#allow(IDLE_SECONDS);
    if (this.#outlet.drain()) this.#sent();
  }

  /** The caller sends no more: what it asked for is still answered. */
  halfClosed(): void {
    this.#isHalfClosed = true;
    this.#inlet.fail(endedEarly());
    if (this.#isQuiet) this.#socket.end();
  }

  closed(): void {
    this.#isOver = true;
    this.#inlet.clear();
    this.#inlet.fail(endedEarly());
  }

  /** Called every second: what takes too long ends. */
  tick(): void {
    if (this.#board.seconds < this.#deadline) return;
    if (this.#inlet.isAwaited) this.#inlet.fail(late("body"));
    else if (this.#head) return;
    else if (this.#isOver || !this.#outlet.isSent) this.#socket.terminate();
    else if (!this.#inlet.isEmpty) this.#refuse(late("request"));
    else this.#socket.end();
  }

  /** Ends the connection if nothing is under way; if something is, that is its last. */
  release(): void {
    if (this.#isQuiet && this.#inlet.isEmpty) this.#socket.end();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Whether the next request has to wait. */
  get #isBusy(): boolean {
    return this.#head !== null || this.#outlet.isFull;
  }

  /** Whether nothing is being answered or sent. */
  get #isQuiet(): boolean {
    return this.#head === null && this.#outlet.isEmpty;
  }

  /** Answers what has come, until more has to come or something has to be waited for. */
  #proceed(): void {
    try {
      while (!this.#inlet.isEmpty && !this.#isBusy && !this.#isOver) {
        const head = this.#inlet.nextHead();
        if (!head) {
          this.#deadline = Math.min(this.#deadline, this.#board.seconds + ARRIVAL_SECONDS);
          break;
        }
        this.#answer(head);
      }
    } catch (error) {
      this.#refuse(error);
    }
  }

  #answer(head: Head): void {
    this.#head = head;
    this.#board.underWay++;
    const reply = this.#board.answer(new Request(this, head));
    if (reply instanceof Promise)
      reply.then((later) => {
        this.#finish(head, later);
        this.#proceed();
      });
    else this.#finish(head, reply);
  }

  #finish(head: Head, reply: Reply): void {
    this.#head = null;
    this.#board.underWay--;
    if (this.#isOver) return;
    this.#allow(IDLE_SECONDS);
    const isLast = this.#isLast(head);
    this.#reply(reply, head.method === "HEAD", isLast ? CLOSE : head.isOld ? KEEP_ALIVE : "");
    if (isLast) this.#hangUp();
    else this.#resume();
  }

  #isLast(head: Head): boolean {
    const { connection } = head.fields;
    if (connection === "close" || (head.isOld && connection !== "keep-alive")) return true;
    return this.#board.isStopping() || !this.#inlet.canFindNext(head);
  }

  #refuse(error: unknown): void {
    if (!(error instanceof Failure)) throw error;
    this.#reply(this.#board.refuse(error), false, CLOSE);
    this.#hangUp();
  }

  #reply(reply: Reply, isHead: boolean, connectionLine: string): void {
    const { text, bytes } = written(reply, isHead, this.#board.dateLine + connectionLine);
    this.#say(text, bytes);
  }

  #say(text: string, bytes = text.length): void {
    if (this.#outlet.isEmpty) this.#board.hasToSend(this);
    this.#outlet.say(text, bytes);
  }

  /** All that was said is on its way. */
  #sent(): void {
    if (this.#isOver) {
      this.#linger();
      return;
    }
    this.#proceed();
    if (this.#isHalfClosed && this.#isQuiet) this.#socket.end();
  }

  /** The last answer was given; what comes after it is not looked at. */
  #hangUp(): void {
    this.#isOver = true;
    this.#inlet.clear();
    this.#resume();
  }

  /** Lets the caller take the last answer: to close at once, with bytes of it unread, could destroy what it was told. */
  #linger(): void {
    this.#allow(LINGER_SECONDS);
    if (this.#isHalfClosed) this.#socket.end();
    else this.#socket.shutdown();
  }

  #allow(seconds: number): void {
    this.#deadline = this.#board.seconds + seconds;
  }

  #pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }
}

function late(what: "body" | "request"): Failure {
  return new Failure(
    "request_timeout",
    `The ${what} did not arrive within ${ARRIVAL_SECONDS} seconds. Repeat the request.`,
  );
}
