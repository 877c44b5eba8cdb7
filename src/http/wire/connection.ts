import type { Socket } from "bun";
import { Failure } from "../../core/failure.ts";
import type { Awaitable } from "../../core/ports.ts";
import { type Head, waitsForWord } from "./head.ts";
import { ARRIVAL_SECONDS, endedEarly, Inlet, late } from "./inlet.ts";
import { LEAST_TAKEN_BYTES, Outlet } from "./outlet.ts";
import { CHUNKED, CLOSE, KEEP_ALIVE, type Reply, written } from "./reply.ts";
import { Request } from "./request.ts";
import { chunk, LAST_CHUNK, type Stream } from "./stream.ts";
import type { Switchboard } from "./switchboard.ts";

/** How long a connection is kept without a request, or without taking what is sent to it. */
export const IDLE_SECONDS = 30;
/** After the last answer the caller has this long to take it and hang up. */
const LINGER_SECONDS = 5;

/** One caller's connection: its requests are answered one by one, in the order in which they came. */
export class Connection {
  readonly #socket: Socket<Connection>;
  readonly #board: Switchboard;
  readonly #inlet = new Inlet();
  readonly #outlet: Outlet;
  /** The network address at the other end, which nobody knows any more when the caller is gone. */
  readonly peer: string;
  /** The request that is being answered. */
  #head: Head | null = null;
  /** The body that is being sent piece by piece, and whether its pieces have sizes: an old caller knows its end by the connection's. */
  #stream: Stream | null = null;
  #isChunked = false;
  #deadline: number;
  /** The next request has begun to come. */
  #hasBegun = false;
  /** What was said is sent at the end of this turn. */
  #isSpeaker = false;
  #isPaused = false;
  /** The caller sends no more. */
  #isHalfClosed = false;
  /** The connection is to end when nothing is under way. */
  #isReleased = false;
  /** Nothing more is answered. */
  #isOver = false;
  /** Nothing more is sent. */
  #isShut = false;

  constructor(socket: Socket<Connection>, board: Switchboard) {
    this.#socket = socket;
    this.#outlet = new Outlet(socket);
    this.#board = board;
    this.peer = socket.remoteAddress ?? "unknown";
    this.#deadline = board.seconds + IDLE_SECONDS;
  }

  /** The body of the request that is being answered. */
  body(limitBytes: number): Awaitable<Uint8Array> {
    return this.#inlet.body(limitBytes, () => {
      if (this.#isHalfClosed || this.#isOver) throw endedEarly();
      if (this.#head && waitsForWord(this.#head)) this.#say("HTTP/1.1 100 Continue\r\n\r\n");
      this.#allow(ARRIVAL_SECONDS);
      this.#pause(false);
    });
  }

  /** Whether nobody is at work for it: a request has not come, or not whole, or its answer is not taken. */
  get isWaiting(): boolean {
    return this.#head === null && this.#stream === null;
  }

  /** The second in which it ends if it goes on waiting. */
  get endsAt(): number {
    return this.#deadline;
  }

  receive(data: Buffer): void {
    if (this.#isOver) return;
    this.#inlet.receive(data);
    this.#advance();
  }

  /** Sends what was said. */
  send(): void {
    this.#isSpeaker = false;
    this.#outlet.send();
    this.#advance();
  }

  /** The caller can take more, or may; whether it took so much, or all, and so has time to take the rest. */
  drain(leastBytes = 1): boolean {
    if (this.#outlet.isSent) return true;
    const isEnough = this.#outlet.drain(leastBytes);
    if (isEnough && !this.#inlet.isAwaited) this.#allow(IDLE_SECONDS);
    this.#advance();
    return isEnough;
  }

  /** The caller sends no more: what it asked for is still answered. */
  halfClosed(): void {
    this.#isHalfClosed = true;
    this.#endStream();
    this.#inlet.fail(endedEarly());
    this.#advance();
  }

  closed(): void {
    this.#stream?.closed();
    this.#stream = null;
    this.#isOver = true;
    this.#isShut = true;
    this.#inlet.clear();
    this.#inlet.fail(endedEarly());
  }

  /** Called every second: what takes too long ends. */
  tick(): void {
    if (this.#board.seconds < this.#deadline) return;
    if (this.#inlet.isAwaited) this.#inlet.fail(late("body"));
    else if (this.#head || (this.#stream && this.#outlet.isSent)) return;
    else if (!this.#outlet.isSent) {
      // A slow caller makes room all the time, and never as much at once as the system would tell of.
      if (!this.drain(LEAST_TAKEN_BYTES)) this.#socket.terminate();
    }
    // Not cut off: what the caller was told may still be on its way.
    else if (this.#isOver) this.#socket.end();
    else if (this.#hasBegun) this.#refuse(late("request"));
    else this.#socket.end();
  }

  /** Ends the connection if nothing is under way; if something is, that is its last. */
  release(): void {
    this.#isReleased = true;
    this.#endStream();
    this.#advance();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Whether the next request has to wait. */
  get #isBusy(): boolean {
    return this.#head !== null || this.#stream !== null || this.#outlet.isFull;
  }

  /** Whether nothing is being answered or sent. */
  get #isQuiet(): boolean {
    return this.#head === null && this.#stream === null && this.#outlet.isEmpty;
  }

  /** Goes on as far as can be gone now: after whatever has come, was answered or was taken. */
  #advance(): void {
    try {
      while (!this.#inlet.isEmpty && !this.#isBusy && !this.#isOver) {
        const head = this.#inlet.nextHead();
        if (!head) break;
        this.#answer(head);
      }
    } catch (error) {
      this.#refuse(error);
    }
    if (this.#isOver) {
      this.#pause(false);
      if (this.#isQuiet) this.#shut();
      return;
    }
    this.#pause(this.#isBusy && this.#inlet.isFull);
    if (this.#stream && this.#outlet.isEmpty) this.#stream.drained();
    if (!this.#isQuiet) return;
    if (this.#isHalfClosed || (this.#isReleased && this.#inlet.isEmpty)) this.#socket.end();
    else if (this.#inlet.isEmpty) this.#hasBegun = false;
    else if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#allow(ARRIVAL_SECONDS);
    }
  }

  #answer(head: Head): void {
    this.#head = head;
    this.#hasBegun = false;
    this.#board.underWay++;
    let reply: Awaitable<Reply>;
    try {
      reply = this.#board.answer(new Request(this, head));
    } catch (error) {
      this.#failed(error);
    }
    if (reply instanceof Promise) this.#finishLater(head, reply);
    else this.#finish(head, reply);
  }

  #finishLater(head: Head, reply: Promise<Reply>): void {
    const finished = (there: Reply) => {
      this.#finish(head, there);
      this.#advance();
    };
    reply.then(finished, (error) => this.#failed(error)).catch((error) => this.#board.broken(this, error));
  }

  /** What never fails did: it is under way no more. */
  #failed(error: unknown): never {
    this.#board.underWay--;
    throw error;
  }

  #finish(head: Head, reply: Reply): void {
    this.#head = null;
    this.#board.underWay--;
    if (this.#isOver) reply.stream?.closed();
    else if (reply.stream && head.method !== "HEAD") this.#begin(reply, reply.stream, head);
    else {
      this.#allow(IDLE_SECONDS);
      const isLast = this.#isLast(head);
      this.#reply(reply, head.method === "HEAD", isLast ? CLOSE : head.isOld ? KEEP_ALIVE : "");
      if (isLast) this.#hangUp();
    }
  }

  /** A stream is the last on its connection: what is asked for behind it would wait for ever. */
  #begin(reply: Reply, stream: Stream, { isOld }: Head): void {
    this.#allow(IDLE_SECONDS);
    this.#isChunked = !isOld;
    this.#reply(reply, false, isOld ? CLOSE : CHUNKED + CLOSE);
    this.#stream = stream;
    stream.start({
      send: (text) => this.#stream === stream && this.#sendPart(text),
      end: () => {
        if (this.#stream !== stream) return;
        this.#endStream();
        this.#advance();
      },
    });
  }

  #sendPart(text: string): boolean {
    // From the first piece that is not taken at once the caller has this long to take some.
    if (this.#outlet.isEmpty) this.#allow(IDLE_SECONDS);
    const piece = this.#isChunked ? chunk(text) : { text, bytes: Buffer.byteLength(text) };
    this.#say(piece.text, piece.bytes);
    return !this.#outlet.isFull;
  }

  #endStream(): void {
    const stream = this.#stream;
    if (!stream) return;
    this.#stream = null;
    if (this.#isChunked) this.#say(LAST_CHUNK);
    this.#hangUp();
    stream.closed();
  }

  #isLast(head: Head): boolean {
    const { connection } = head.fields;
    if (!this.#inlet.readOverBody(head) || this.#board.isStopping()) return true;
    return connection === "close" || (head.isOld && connection !== "keep-alive");
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
    this.#outlet.say(text, bytes);
    if (this.#isSpeaker) return;
    this.#isSpeaker = true;
    this.#board.hasToSend(this);
  }

  /** The last answer was given; what comes after it is not looked at. */
  #hangUp(): void {
    this.#isOver = true;
    this.#inlet.clear();
  }

  /** Lets the caller take the last answer: to close at once, with bytes of it unread, could destroy what it was told. */
  #shut(): void {
    if (this.#isHalfClosed) this.#socket.end();
    if (this.#isShut) return;
    this.#isShut = true;
    this.#allow(LINGER_SECONDS);
    this.#socket.shutdown();
  }

  #allow(seconds: number): void {
    this.#deadline = this.#board.seconds + seconds;
  }

  #pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#socket.pause();
    else this.#socket.resume();
  }
}
