import type { Connection } from "./connection.ts";
import type { Switchboard } from "./switchboard.ts";

/** How many are heard before their answers are sent. */
const HEARD_AT_ONCE = 64;

/**
 * In a turn of the event loop all that has come is answered first and sent then: to go back and forth between the kernel and
 * the program for each request took about a fifth more of the processor.
 */
export interface Turns extends Pick<Switchboard, "hasToSend"> {
  /** What a connection said is heard in the next turn; `null` if it says no more. */
  hear(connection: Connection, data: Buffer | null): void;
  /** A turn that does not wait until it is due. */
  take(): void;
}

export function inTurns(broken: Switchboard["broken"]): Turns {
  /** Who was heard, and what each said. */
  let heard: Connection[] = [];
  let saying: (Buffer | null)[] = [];
  let speakers: Connection[] = [];
  let isDue = false;
  const due = () => {
    if (isDue) return;
    isDue = true;
    setImmediate(take);
  };
  const take = () => {
    isDue = false;
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
        broken(connection, error);
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
        broken(connection, error);
      }
    }
  };
  return {
    hear(connection, data) {
      heard.push(connection);
      saying.push(data);
      due();
    },
    hasToSend(connection) {
      speakers.push(connection);
      due();
    },
    take,
  };
}
