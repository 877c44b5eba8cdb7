import type { SocketHandler } from "bun";
import { inOnePiece } from "../one-piece.ts";
import { Connection } from "./connection.ts";
import { type Connections, connectionsUpTo } from "./connections.ts";
import type { Switchboard } from "./switchboard.ts";
import { inTurns, type Turns } from "./turns.ts";

export interface Listening {
  readonly port: number;
  /** Requests that are being answered. */
  readonly underWay: number;
  /** Open connections. */
  readonly connections: number;
  /** Connections that were ever closed as they came, or for one that came. */
  readonly turnedAway: number;
  /** Takes no more connections, and is done when the last of them has ended; at once if they are cut. */
  stop(isCut?: boolean): Promise<void>;
}

export interface ListenOptions extends Pick<Switchboard, "answer" | "refuse" | "isStopping"> {
  readonly host: string;
  readonly port: number;
  /** Connections at once; more are closed as they come, unless others make room. */
  readonly maxConnections: number;
  /** Whether one that only waits is closed for one that comes. */
  readonly makesRoom?: boolean;
  /** So many connections were closed as they came, or for one that came, within a second. */
  readonly onCrowded: (closed: number) => void;
  /** What should never be thrown was. */
  readonly onFault: (error: unknown) => void;
}

/** HTTP/1.1 over plain TCP. */
export function listen(options: ListenOptions): Listening {
  const { host, port, maxConnections, makesRoom = false, answer, refuse, isStopping, onFault } = options;
  let isStopped = false;
  const broken = (connection: Connection, error: unknown) => {
    onFault(error);
    connection.terminate();
  };
  const connections = connectionsUpTo(maxConnections, makesRoom);
  const turns = inTurns(broken);
  const board: Switchboard = {
    seconds: secondsNow(),
    underWay: 0,
    dateLine: dateLine(),
    answer,
    refuse,
    isStopping: () => isStopped || isStopping(),
    hasToSend: turns.hasToSend,
    broken,
  };
  const listener = Bun.listen<Connection>({
    hostname: host,
    port,
    // Two servers must not share a port by accident.
    exclusive: true,
    // Who has said all that it has to say still gets its answer.
    allowHalfOpen: true,
    socket: sockets(board, connections, turns),
  });
  const timer = everySecond(board, connections, turns, options.onCrowded);
  return {
    port: listener.port,
    get underWay() {
      return board.underWay;
    },
    get connections() {
      return connections.size;
    },
    get turnedAway() {
      return connections.turnedAway;
    },
    async stop(isCut = false) {
      isStopped = true;
      listener.stop();
      turns.take();
      await connections.end(isCut);
      clearInterval(timer);
    },
  };
}

/** What becomes of those who come, until they are gone. */
function sockets(board: Switchboard, connections: Connections, turns: Turns): SocketHandler<Connection> {
  return {
    open(socket) {
      if (!connections.makeRoom()) {
        socket.terminate();
        return;
      }
      socket.setNoDelay(true);
      socket.data = new Connection(socket, board);
      connections.add(socket.data);
    },
    data: (socket, data) => turns.hear(socket.data, data),
    end: (socket) => turns.hear(socket.data, null),
    drain: (socket) => void socket.data.drain(),
    close(socket) {
      // One too many is none of them.
      if (connections.remove(socket.data)) socket.data.closed();
    },
    error: (socket, error) => board.broken(socket.data, error),
  };
}

/** The clock goes on, what takes too long ends, and a crowd is told of. */
function everySecond(
  board: Switchboard,
  connections: Connections,
  turns: Turns,
  onCrowded: ListenOptions["onCrowded"],
): Timer {
  let toldOf = 0;
  return setInterval(() => {
    board.seconds = secondsNow();
    board.dateLine = dateLine();
    // What has come is heard before anybody is told that nothing came.
    turns.take();
    for (const connection of connections) {
      try {
        connection.tick();
      } catch (error) {
        board.broken(connection, error);
      }
    }
    const closed = connections.turnedAway - toldOf;
    if (closed > 0) onCrowded(closed);
    toldOf += closed;
  }, 1000);
}

function secondsNow(): number {
  return Math.floor(performance.now() / 1000);
}

function dateLine(): string {
  return inOnePiece(`date: ${new Date().toUTCString()}\r\n`);
}
