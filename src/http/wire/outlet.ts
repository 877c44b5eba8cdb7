/** Answers that wait to be sent keep the next request waiting when they are longer than this. */
const WAITING_CHARACTERS = 64 * 1024;
/** A caller takes so much of a long answer in the time for it, or its rest: it keeps the whole of it in memory. */
export const LEAST_TAKEN_BYTES = 4096;

const nothing: Buffer = Buffer.alloc(0);

/** What a connection has to say: said at any time, sent together, and kept for as long as the caller does not take it. */
export class Outlet {
  readonly #socket: { write(data: string | Uint8Array): number };
  #said = "";
  #saidBytes = 0;
  #unsent = nothing;

  constructor(socket: { write(data: string | Uint8Array): number }) {
    this.#socket = socket;
  }

  get isEmpty(): boolean {
    return this.#said === "" && this.isSent;
  }

  /** Whether the caller has taken all that was sent. */
  get isSent(): boolean {
    return this.#unsent.length === 0;
  }

  get isFull(): boolean {
    return this.#unsent.length > 0 || this.#said.length > WAITING_CHARACTERS;
  }

  say(text: string, bytes: number): void {
    this.#said = this.#said === "" ? text : this.#said + text;
    this.#saidBytes += bytes;
  }

  /** Sends what was said. */
  send(): void {
    const text = this.#said;
    const bytes = this.#saidBytes;
    this.#said = "";
    this.#saidBytes = 0;
    if (!this.isSent) this.#unsent = Buffer.concat([this.#unsent, Buffer.from(text)]);
    else {
      const sent = this.#socket.write(text);
      if (sent < bytes) this.#unsent = Buffer.from(text).subarray(Math.max(0, sent));
    }
  }

  /** Sends more of what was not taken, and says whether so much was taken now, or all. */
  drain(leastBytes: number): boolean {
    const taken = Math.max(0, this.#socket.write(this.#unsent));
    const rest = this.#unsent.subarray(taken);
    // An empty slice would keep the whole in memory.
    this.#unsent = rest.length === 0 ? nothing : rest;
    return taken >= leastBytes || this.isSent;
  }
}
