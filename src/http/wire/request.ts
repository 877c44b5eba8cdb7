import type { Awaitable } from "../../core/ports.ts";
import type { Head, HeaderValues } from "./head.ts";

/** A request as it came in. */
export interface Incoming {
  readonly method: string;
  /** The address as it was sent; then its two parts. */
  readonly url: string;
  readonly pathname: string;
  readonly search: string;
  readonly headers: Pick<HeaderValues, "get">;
  /** The network address at the other end of the connection. */
  readonly peer: string;
  /** The whole body: at once, if it is here already. */
  body(limitBytes: number): Awaitable<Uint8Array>;
}

/** What a request asks of the connection that it came over. */
type Origin = Pick<Incoming, "peer" | "body">;

/** A request's head, and the connection that has the rest. */
export class Request implements Incoming {
  readonly method: string;
  readonly url: string;
  readonly pathname: string;
  readonly search: string;
  readonly headers: HeaderValues;
  private readonly origin: Origin;

  constructor(origin: Origin, { method, url, pathname, search, fields }: Head) {
    this.method = method;
    this.url = url;
    this.pathname = pathname;
    this.search = search;
    this.headers = fields.headers;
    this.origin = origin;
  }

  get peer(): string {
    return this.origin.peer;
  }

  body(limitBytes: number): Awaitable<Uint8Array> {
    return this.origin.body(limitBytes);
  }
}
