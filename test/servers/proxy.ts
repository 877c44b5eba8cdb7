// A door before a server: it counts how often somebody had to wait for an answer before going on, and can slam.
import { connect, createServer, type Socket } from "node:net";

/** What comes back is held for so long that everything that was sent without waiting for it arrives before. */
const HELD_MS = 10;

/** What PostgreSQL says to whoever comes while it is starting: an error, its length and its fields. */
const STARTING_FIELDS = "SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0";
const STARTING = Buffer.from(`E\0\0\0${String.fromCharCode(4 + STARTING_FIELDS.length)}${STARTING_FIELDS}`);

export interface Door extends AsyncDisposable {
  readonly port: number;
  /** Round trips since it was last asked. */
  taken(): number;
  /** Ends the connection that next sends this, when the server has done it but before its answer is handed over. */
  cutAfter(text: string): void;
  /** Turns away whoever comes next, once. */
  refuseNext(): void;
  /** Ends all connections, and turns everybody away until it is opened again. */
  shut(): void;
  /** The same, but says that the database is starting. */
  start(): void;
  /** Who is connected, and who comes until it is opened again, is never answered any more. */
  mute(): void;
  open(): void;
  /** Keeps what the server says to itself until it is released, then hands it over in one piece. */
  hold(): void;
  release(): void;
  /** How often somebody was turned away. */
  refused(): number;
}

/** A round trip is anything sent after an answer was handed over, or first of all. */
export async function aDoor(toPort: number): Promise<Door> {
  let trips = 0;
  let cutting: string | undefined;
  let isRefusing = false;
  let mood: "open" | "shut" | "starting" | "mute" = "open";
  let held: (() => void)[] | undefined;
  let refused = 0;
  const sockets = new Set<Socket>();
  const muted = new WeakSet<Socket>();
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    client.on("error", () => {});
    if (mood === "shut" || isRefusing) {
      isRefusing = false;
      refused += 1;
      return void client.destroy();
    }
    if (mood === "starting") return void client.once("data", () => client.end(STARTING));
    if (mood === "mute") muted.add(client);
    const upstream = connect(toPort, "127.0.0.1");
    let isAnswered = true;
    let isCut = false;
    let kept = Buffer.alloc(0);
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    client.on("data", (chunk) => {
      if (isAnswered) trips += 1;
      isAnswered = false;
      if (cutting !== undefined && chunk.includes(cutting)) {
        cutting = undefined;
        isCut = true;
      }
      upstream.write(chunk);
    });
    const released = () => {
      client.write(kept);
      kept = Buffer.alloc(0);
    };
    upstream.on("data", (chunk: Buffer) => {
      if (muted.has(client)) return;
      if (held) {
        if (kept.length === 0) held.push(released);
        kept = Buffer.concat([kept, chunk]);
        return;
      }
      setTimeout(() => {
        if (isCut) return void client.destroy();
        isAnswered = true;
        client.write(chunk);
      }, HELD_MS);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        if (one === upstream && (held || muted.has(client))) return;
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    taken() {
      const taken = trips;
      trips = 0;
      return taken;
    },
    cutAfter: (text) => {
      cutting = text;
    },
    refuseNext: () => {
      isRefusing = true;
    },
    shut: () => {
      mood = "shut";
      endAll();
    },
    start: () => {
      mood = "starting";
      endAll();
    },
    mute: () => {
      mood = "mute";
      for (const socket of sockets) muted.add(socket);
    },
    open: () => {
      mood = "open";
    },
    hold: () => {
      held = [];
    },
    release: () => {
      for (const each of held ?? []) each();
      held = undefined;
    },
    refused: () => refused,
    async [Symbol.asyncDispose]() {
      server.close();
      endAll();
    },
  };
}
