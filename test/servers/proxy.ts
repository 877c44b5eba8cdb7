// A door before a server: it counts how often somebody had to wait for an answer before going on, and can slam.
import { connect, createServer, type Socket } from "node:net";

/** What comes back is held for so long that everything that was sent without waiting for it arrives before. */
const HELD_MS = 10;

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
  open(): void;
  /** How often somebody was turned away. */
  refused(): number;
}

/** A round trip is anything sent after an answer was handed over, or first of all. */
export async function aDoor(toPort: number): Promise<Door> {
  let trips = 0;
  let cutting: string | undefined;
  let isRefusing = false;
  let isShut = false;
  let refused = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (isShut || isRefusing) {
      isRefusing = false;
      refused += 1;
      return void client.destroy();
    }
    const upstream = connect(toPort, "127.0.0.1");
    let isAnswered = true;
    let isCut = false;
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
    upstream.on("data", (chunk) => {
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
      isShut = true;
      for (const socket of sockets) socket.destroy();
    },
    open: () => {
      isShut = false;
    },
    refused: () => refused,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
