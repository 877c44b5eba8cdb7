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

interface State {
  readonly toPort: number;
  readonly sockets: Set<Socket>;
  readonly muted: WeakSet<Socket>;
  mood: "open" | "shut" | "starting" | "mute";
  trips: number;
  cutting: string | undefined;
  isRefusing: boolean;
  refused: number;
  /** What hands over what was kept, while it is kept. */
  held: (() => void)[] | undefined;
}

/** A round trip is anything sent after an answer was handed over, or first of all. */
export async function aDoor(toPort: number): Promise<Door> {
  const state: State = {
    toPort,
    sockets: new Set(),
    muted: new WeakSet(),
    mood: "open",
    trips: 0,
    cutting: undefined,
    isRefusing: false,
    refused: 0,
    held: undefined,
  };
  const server = createServer((client) => welcome(state, client));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const slam = (mood: State["mood"]) => {
    state.mood = mood;
    for (const socket of state.sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    taken() {
      const { trips } = state;
      state.trips = 0;
      return trips;
    },
    cutAfter: (text) => {
      state.cutting = text;
    },
    refuseNext: () => {
      state.isRefusing = true;
    },
    shut: () => slam("shut"),
    start: () => slam("starting"),
    mute: () => {
      state.mood = "mute";
      for (const socket of state.sockets) state.muted.add(socket);
    },
    open: () => {
      state.mood = "open";
    },
    hold: () => {
      state.held = [];
    },
    release: () => {
      for (const each of state.held ?? []) each();
      state.held = undefined;
    },
    refused: () => state.refused,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of state.sockets) socket.destroy();
    },
  };
}

function welcome(state: State, client: Socket): void {
  client.on("error", () => {});
  if (state.mood === "shut" || state.isRefusing) {
    state.isRefusing = false;
    state.refused += 1;
    client.destroy();
  } else if (state.mood === "starting") client.once("data", () => client.end(STARTING));
  else {
    if (state.mood === "mute") state.muted.add(client);
    letThrough(state, client, connect(state.toPort, "127.0.0.1"));
  }
}

function letThrough(state: State, client: Socket, upstream: Socket): void {
  let isAnswered = true;
  let isCut = false;
  let kept = Buffer.alloc(0);
  client.setNoDelay(true);
  upstream.setNoDelay(true);
  client.on("data", (chunk) => {
    if (isAnswered) state.trips += 1;
    isAnswered = false;
    if (state.cutting !== undefined && chunk.includes(state.cutting)) {
      state.cutting = undefined;
      isCut = true;
    }
    upstream.write(chunk);
  });
  const released = () => {
    client.write(kept);
    kept = Buffer.alloc(0);
  };
  upstream.on("data", (chunk: Buffer) => {
    if (state.muted.has(client)) return;
    if (state.held) {
      if (kept.length === 0) state.held.push(released);
      kept = Buffer.concat([kept, chunk]);
      return;
    }
    setTimeout(() => {
      if (isCut) return void client.destroy();
      isAnswered = true;
      client.write(chunk);
    }, HELD_MS);
  });
  endTogether(state, client, upstream);
}

/** What ends on one side ends on the other, but not while answers are kept or never given. */
function endTogether(state: State, client: Socket, upstream: Socket): void {
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    state.sockets.add(one);
    one.on("error", () => {});
    one.on("close", () => {
      state.sockets.delete(one);
      if (one === upstream && (state.held || state.muted.has(client))) return;
      other.destroy();
    });
  }
}
