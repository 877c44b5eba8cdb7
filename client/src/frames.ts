/** A piece of a stream: an event, or only the id up to which there is none. */
export interface Frame {
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/** Server-sent events, as they come. What is cut off in the middle is no event. */
export async function* framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let unread = "";
  let id: string | undefined;
  let data: string[] = [];
  for await (const chunk of chunks) {
    unread += decoder.decode(chunk, { stream: true });
    const lines = unread.split(/\r?\n/);
    unread = lines.pop() as string;
    for (const line of lines) {
      const [name, value] = fieldOf(line);
      if (name === "id") id = value;
      else if (name === "data") data.push(value);
      else if (line === "") {
        yield { id, data: data.length > 0 ? data.join("\n") : undefined };
        data = [];
      }
    }
  }
}

/** Up to the first colon is the name; the value may be anything, separators of lines other than the stream's own too. */
function fieldOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  return colon === -1 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}
