// A reader of server-sent events that hides nothing: what comes, and when it ends.

export interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
  readonly data: any;
  readonly isComment: boolean;
}

export interface Following extends AsyncDisposable {
  readonly response: Response;
  /** The next piece, or `null` at the end. */
  next(): Promise<Frame | null>;
  /** The next events, without what only says how far they are. */
  events(count: number): Promise<Frame[]>;
  close(): Promise<void>;
}

interface Asking {
  readonly query?: string;
  readonly headers?: Record<string, string>;
}

/** Follows the events of a server as the holder of a key; the first piece, where it starts, is read. */
export async function follow(
  url: string,
  { key }: { readonly key: string },
  { query = "", headers = {} }: Asking = {},
): Promise<Following> {
  const response = await fetch(`${url}/events/stream${query}`, { headers: { "x-api-key": key, ...headers } });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) throw new Error("There is no body.");
  let text = "";
  const next = async (): Promise<Frame | null> => {
    for (let end = text.indexOf("\n\n"); ; end = text.indexOf("\n\n")) {
      if (end >= 0) {
        const frame = frameOf(text.slice(0, end));
        text = text.slice(end + 2);
        return frame;
      }
      const { value, done } = await reader.read();
      if (done) return null;
      text += value;
    }
  };
  const close = async () => {
    await reader.cancel().catch(() => {});
  };
  await next();
  return {
    response,
    next,
    async events(count) {
      const found: Frame[] = [];
      while (found.length < count) {
        const frame = await next();
        if (!frame) throw new Error(`The stream ended after ${found.length} of ${count} events.`);
        if (frame.event !== undefined) found.push(frame);
      }
      return found;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function frameOf(text: string): Frame {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1];
  const data = field("data");
  return {
    id: field("id"),
    event: field("event"),
    data: data === undefined ? undefined : JSON.parse(data),
    isComment: text.startsWith(":"),
  };
}
