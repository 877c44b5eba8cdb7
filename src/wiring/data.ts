import type { Caller } from "../core/context.ts";
import { causeOf } from "../core/failure.ts";
import { type Performed, perform as performed } from "../core/perform.ts";
import { writerThread } from "../files.ts";
import type { Store } from "../http/operate.ts";
import type { Engine } from "../store/engine.ts";
import { openEngine } from "../store/open.ts";
import type { House } from "./house.ts";
import { postgresTold } from "./told.ts";

/** The server itself, where no key asks. */
const itself: Caller = { clientId: 0, keyId: 0, role: "admin" };

/** The database, as the parts of the server use it. */
export interface Data {
  readonly engine: Engine;
  readonly store: Store;
  /** Does what nobody's key asks for. */
  readonly perform: (operation: string, input: unknown) => Promise<Performed>;
}

/** `onWrite` is told of each write as it is sent on its way. */
export async function openData(house: House, onWrite: (written: Promise<Performed>) => void): Promise<Data> {
  const { config, rules, meters, log, clock, life } = house;
  const told = postgresTold(log);
  const engine = await openEngine(writerThread, {
    url: config.databaseUrl,
    connections: config.databaseConnections,
    rules,
    perform: performed,
    onFault: (error) =>
      log.error(
        life.isClosing
          ? "The data store could not be closed as it should; the next start mends that."
          : "Something went wrong in the data store.",
        { cause: causeOf(error) },
      ),
    onLost(error) {
      log.error(
        "The disk did not keep what was written. The server ends here; its next start writes it again.",
        { cause: causeOf(error) },
      );
      log.flush();
      process.kill(process.pid, "SIGKILL");
    },
    onBack: told.onBack,
    onAway: (cause) => {
      meters.counts.databaseOutages += 1;
      told.onAway(cause);
    },
    onCommit: meters.committed,
  });
  const store: Store = {
    ...engine.reads,
    perform(command) {
      const written = engine.perform(command);
      onWrite(written);
      return written;
    },
  };
  const perform = (operation: string, input: unknown) =>
    store.perform({ operation, caller: itself, input, now: clock() });
  return { engine, store, perform };
}
