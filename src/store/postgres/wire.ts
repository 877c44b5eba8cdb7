import { Socket } from "node:net";
import pg from "pg";
import type { Value } from "../statement.ts";
import { type Descriptions, parserOf, type Question, Questions } from "./questions.ts";

/** What a connection is opened with; times in milliseconds, 0 for no end. */
export interface WireSettings {
  readonly url: string;
  readonly connectMs: number;
  /** What the server itself enforces. */
  readonly statementMs: number;
  readonly lockMs: number;
  readonly idleInTransactionMs: number;
  /** Other settings of the server for the connection, as a statement. */
  readonly settings?: string;
  /** Whether a server that takes no writes is as good as none. */
  readonly isForWrites?: boolean;
}

export interface Sent {
  /** Without values it may be several statements; they are not prepared, and go by themselves. */
  readonly text: string;
  readonly values?: Value[];
  /** Under this name the server keeps it prepared. */
  readonly name?: string | undefined;
}

export interface Answered {
  /** What was done, such as `COMMIT`; the server says `ROLLBACK` to the commit of what had failed. */
  readonly command: string;
  readonly rows: unknown[];
}

/** One connection. What is sent does not wait for what was sent before; answers come in the same order. */
export interface Wire {
  send(sent: Sent): Promise<Answered>;
  /** Whether it has ended; it does not come back. */
  readonly isLost: boolean;
  /** For how long an answer has been waited for. */
  silentMs(): number;
  /** Ends it at once: what waits for an answer gets `Lost`. */
  discard(cause: string): void;
  /** Lets what is under way be answered and says goodbye; ended in any case if the server does not hear that in time. */
  close(): Promise<void>;
}

/** The connection ended, and with it every answer that was waited for. */
export class Lost extends Error {
  constructor(cause: unknown) {
    super(`The connection was lost: ${cause instanceof Error ? cause.message : cause}`);
    this.name = "Lost";
  }
}

/** How long a server may take to hear the goodbye. */
const GOODBYE_MS = 500;

/** Opens a connection; rejects when that takes too long or is refused. */
export async function openWire(
  settings: WireSettings,
  onLost: (wire: Wire) => void,
  onHeard: () => void = () => {},
): Promise<Wire> {
  const socket = new Socket();
  const client = driverOver(socket, settings);
  const waiting = new Set<(error: Error) => void>();
  let isLost = false;
  let heardAt = 0;
  const lose = (cause: unknown) => {
    if (isLost) return;
    isLost = true;
    socket.destroy();
    const lost = new Lost(cause);
    for (const reject of waiting) reject(lost);
    waiting.clear();
    onLost(wire);
  };
  const gather = gathering(client, lose);
  const wire: Wire = {
    get isLost() {
      return isLost;
    },
    send: (sent) =>
      new Promise((resolve, reject) => {
        if (isLost) return reject(new Lost("it had ended before"));
        if (waiting.size === 0) heardAt = performance.now();
        waiting.add(reject);
        const onAnswer = (error: Error | null | undefined, answered?: Answered) => {
          if (isLost) return;
          // What is no answer of the server's is the end of the connection, for all that wait.
          if (error && !(error instanceof pg.DatabaseError)) return lose(error);
          heardAt = performance.now();
          onHeard();
          waiting.delete(reject);
          if (error) reject(error);
          else resolve(answered as Answered);
        };
        gather({ sent, onAnswer });
      }),
    silentMs: () => (waiting.size === 0 ? 0 : performance.now() - heardAt),
    discard: lose,
    async close() {
      if (isLost) return;
      const timer = setTimeout(lose, GOODBYE_MS, "the server did not hear the goodbye");
      await client.end();
      clearTimeout(timer);
      isLost = true;
    },
  };
  client.on("error", lose);
  client.on("end", () => lose("the server ended it"));
  try {
    await client.connect();
  } catch (error) {
    isLost = true;
    socket.destroy();
    throw error;
  }
  onHeard();
  if (settings.settings) wire.send({ text: settings.settings }).catch(lose);
  return wire;
}

function driverOver(socket: Socket, settings: WireSettings): pg.Client {
  return new pg.Client({
    connectionString: verifying(settings.url),
    // Our own socket, so that it can be ended whatever the driver waits for.
    stream: () => socket,
    types: { getTypeParser: parserOf },
    pipeline: true,
    keepAlive: true,
    connectionTimeoutMillis: settings.connectMs,
    statement_timeout: settings.statementMs,
    lock_timeout: settings.lockMs,
    idle_in_transaction_session_timeout: settings.idleInTransactionMs,
    application_name: "petstore",
  });
}

/** What is asked in one turn, such as the last changes and the commit, leaves in one piece, and its answers come in one. */
function gathering(client: pg.Client, lose: (cause: unknown) => void): (question: Question) => void {
  const descriptions: Descriptions = new Map();
  let gathered: Question[] = [];
  const ask = (query: unknown) => {
    try {
      client.query(query as pg.Query);
    } catch (error) {
      lose(error);
    }
  };
  const send = () => {
    const asked = gathered;
    gathered = [];
    if (asked.length > 0) ask(new Questions(asked, descriptions));
  };
  return (question) => {
    if (question.sent.values === undefined) {
      send();
      ask(new pg.Query(question.sent.text, undefined, question.onAnswer));
      return;
    }
    if (gathered.length === 0) process.nextTick(send);
    gathered.push(question);
  };
}

/** The driver demands a verified certificate in these modes too, but warns at length that it may not for ever. */
function verifying(url: string): string {
  const address = new URL(url);
  const isPlain = ["prefer", "require", "verify-ca"].includes(address.searchParams.get("sslmode") ?? "");
  if (!isPlain || address.searchParams.get("uselibpqcompat") === "true") return url;
  return url.replace(/([?&]sslmode=)[^&#]*/, "$1verify-full");
}
