/** A body that keeps coming, as the connection sees it. */
export interface Stream {
  /** The head is said: from now on the stream may send. */
  start(sink: Sink): void;
  /** The caller has taken all that was sent. */
  drained(): void;
  /** Nothing more can be sent. */
  closed(): void;
}

/** The connection, as a stream sees it. */
export interface Sink {
  /** Sends more of the body, and says whether the caller has room for more than that. */
  send(text: string): boolean;
  /** The body ends here. */
  end(): void;
}

/** One piece of a body that has no length beforehand. */
export function chunk(text: string): { text: string; bytes: number } {
  const bytes = Buffer.byteLength(text);
  const size = bytes.toString(16);
  return { text: `${size}\r\n${text}\r\n`, bytes: bytes + size.length + 4 };
}

export const LAST_CHUNK = "0\r\n\r\n";
