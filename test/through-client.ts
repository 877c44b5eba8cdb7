// The tests of the API speak through the client package wherever it can say what they want to send.
import { ApiError, Petstore } from "../client/src/index.ts";
import { endpointAt } from "./held.ts";

export interface Spoken {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Words {
  readonly url: string;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

/** Headers that the client sets itself; a test that wants its own speaks plain HTTP. */
const OWN = new Set(["accept", "authorization", "content-encoding", "content-type", "x-api-key"]);

/** Sends a request as an operation of the client; `null` if the client has no words for it. */
export async function throughClient({
  url,
  key,
  method,
  path,
  body,
  headers,
}: Words): Promise<Spoken | null> {
  const { pathname, searchParams } = new URL(path, url);
  const endpoint = endpointAt(method, pathname);
  if (
    !endpoint ||
    endpoint.route.kind === "stream" ||
    key === "" ||
    Object.keys(headers).some((name) => OWN.has(name.toLowerCase()))
  )
    return null;
  const ids = idsIn(endpoint.path, pathname);
  const takesBody = endpoint.route.body !== undefined;
  if (!ids || body === null || takesBody !== (body !== undefined) || (takesBody && searchParams.size > 0))
    return null;
  if (path.includes("?") && (!endpoint.route.query || searchParams.size === 0)) return null;

  const input = takesBody ? [body] : endpoint.route.query ? [queryOf(searchParams)] : [];
  const who = `${key} ${url}`;
  const speaker = silent.get(who)?.pop() ?? aSpeaker(url, key);
  const call = methodOf(speaker.client, endpoint.id)(...ids, ...input, { headers });
  const heard = await call.withResponse().then(
    ({ data }) => data,
    (error: unknown) => error,
  );
  const spoken = speaker.takeSpoken();
  silent.set(who, [...(silent.get(who) ?? []), speaker]);
  if (!spoken) throw heard;
  holdAgainstAnswer(endpoint.id, spoken, heard);
  return spoken;
}

/** A client that keeps what it was answered, and so makes one call at a time. */
interface Speaker {
  readonly client: Petstore;
  takeSpoken(): Spoken | undefined;
}

/** Those that make no call now, by whom they speak for: a client takes a while to make. */
const silent = new Map<string, Speaker[]>();

function aSpeaker(url: string, key: string): Speaker {
  let spoken: Spoken | undefined;
  const client = new Petstore({
    baseUrl: url,
    apiKey: key,
    pace: false,
    maxRetries: 0,
    logger: { warn() {} },
    async fetch(input, init) {
      const response = await fetch(input, init);
      spoken = { status: response.status, headers: response.headers, text: await response.text() };
      return new Response(spoken.text || null, response);
    },
  });
  return {
    client,
    takeSpoken() {
      const taken = spoken;
      spoken = undefined;
      return taken;
    },
  };
}

type Method = (...args: unknown[]) => { withResponse(): Promise<{ data: unknown }> };

function methodOf(client: Petstore, id: string): Method {
  return id
    .split(".")
    .reduce((branch: unknown, name) => (branch as Record<string, unknown>)[name], client) as Method;
}

/** What the client made of an answer is the answer. */
function holdAgainstAnswer(id: string, { status, text }: Spoken, heard: unknown): void {
  const said: unknown = text === "" ? undefined : JSON.parse(text);
  const isRight =
    status < 300
      ? Bun.deepEquals(plain(heard), said)
      : heard instanceof ApiError &&
        heard.status === status &&
        heard.code === (said as { code?: string })?.code;
  if (!isRight)
    throw new Error(`The client heard something else of ${id} (${status}) than was said: ${text}`);
}

/** A page is an array with more to it. */
function plain(data: unknown): unknown {
  return Array.isArray(data) ? Array.from(data) : data;
}

function idsIn(pattern: string, pathname: string): (number | bigint)[] | null {
  const given = pathname.split("/").filter((_, index) => pattern.split("/")[index]?.startsWith("{"));
  if (!given.every((text) => /^(0|[1-9]\d{0,18})$/.test(text))) return null;
  return given.map((text) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)));
}

function queryOf(parameters: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? (values[0] as string) : values];
    }),
  );
}
