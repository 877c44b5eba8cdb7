import { Connection } from "./connection.ts";
import type { Switchboard } from "./switchboard.ts";

/** How many are heard before their answers are sent. */
const HEARD_AT_ONCE = 64;

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

/**
 * HTTP/1.1 over plain TCP. In a turn of the event loop all that has come is answered first and sent then: to go back and forth
 * between the kernel and the program for each request took about a fifth more of the processor.
 */
export function listen(options: ListenOptions): Listening {
  const { host, port, maxConnections, makesRoom, answer, refuse, isStopping, onCrowded, onFault } = options;
  const connections = new Set<Connection>();
  const gone = Promise.withResolvers<void>();
  let isStopped = false;
  let closedAtOnce = 0;
  let turnedAway = 0;
  /** Who was heard, and what each said; `null` if it says no more. */
  let heard: Connection[] = [];
  let saying: (Buffer | null)[] = [];
  let speakers: Connection[] = [];
  let isTurnDue = false;
  const board: Switchboard = {
    seconds: Math.floor(performance.now() / 1000),
    underWay: 0,
    dateLine: dateLine(),
    answer,
    refuse,
    isStopping: () => isStopped || isStopping(),
    hasToSend(connection) {
      speakers.push(connection);
      dueTurn();
    },
    broken(connection, error) {
      onFault(error);
      connection.terminate();
    },
  };
  const dueTurn = () => {
    if (isTurnDue) return;
    isTurnDue = true;
    setImmediate(turn);
  };
  const turn = () => {
    isTurnDue = false;
    const [who, what] = [heard, saying];
    heard = [];
    saying = [];
    for (let each = 0; each < who.length; each++) {
      const connection = who[each] as Connection;
      const data = what[each];
      try {
        if (data) connection.receive(data);
        else connection.halfClosed();
      } catch (error) {
        board.broken(connection, error);
      }
      if (speakers.length >= HEARD_AT_ONCE) send();
    }
    send();
  };
  const send = () => {
    const now = speakers;
    speakers = [];
    for (const connection of now) {
      try {
        connection.send();
      } catch (error) {
        board.broken(connection, error);
      }
    }
  };
  const hear = (connection: Connection, data: Buffer | null) => {
    heard.push(connection);
    saying.push(data);
    dueTurn();
  };
  const listener = Bun.listen<Connection>({
    hostname: host,
    port,
    // Two servers must not share a port by accident.
    exclusive: true,
    // Who has said all that it has to say still gets its answer.
    allowHalfOpen: true,
    socket: {
      open(socket) {
        if (connections.size >= maxConnections) {
          closedAtOnce += 1;
          turnedAway += 1;
          const other = makesRoom ? nearestToItsEnd(connections) : undefined;
          if (!other) {
            socket.terminate();
            return;
          }
          other.terminate();
        }
        socket.setNoDelay(true);
        socket.data = new Connection(socket, board);
        connections.add(socket.data);
      },
      data: (socket, data) => hear(socket.data, data),
      end: (socket) => hear(socket.data, null),
      drain: (socket) => socket.data.drain(),
      close(socket) {
        // One too many has none.
        if (!connections.delete(socket.data)) return;
        socket.data.closed();
        if (isStopped && connections.size === 0) gone.resolve();
      },
      error: (socket, error) => board.broken(socket.data, error),
    },
  });
  const timer = setInterval(() => {
    board.seconds = Math.floor(performance.now() / 1000);
    board.dateLine = dateLine();
    // What has come is heard before anybody is told that nothing came.
    turn();
    for (const connection of connections) {
      try {
        connection.tick();
      } catch (error) {
        board.broken(connection, error);
      }
    }
    if (closedAtOnce > 0) onCrowded(closedAtOnce);
    closedAtOnce = 0;
  }, 1000);
  return {
    port: listener.port,
    get underWay() {
      return board.underWay;
    },
    get connections() {
      return connections.size;
    },
    get turnedAway() {
      return turnedAway;
    },
    async stop(isCut = false) {
      isStopped = true;
      listener.stop();
      turn();
      for (const connection of [...connections]) isCut ? connection.terminate() : connection.release();
      if (connections.size > 0) await gone.promise;
      clearInterval(timer);
    },
  };
}

/** Of those that only wait, for a request or for what they sent to be taken, the one that would end first. */
function nearestToItsEnd(connections: Iterable<Connection>): Connection | undefined {
  let nearest: Connection | undefined;
  for (const each of connections)
    if (each.isWaiting && each.endsAt < (nearest?.endsAt ?? Number.POSITIVE_INFINITY)) nearest = each;
  return nearest;
}

function dateLine(): string {
  return `date: ${new Date().toUTCString()}\r\n`;
}
