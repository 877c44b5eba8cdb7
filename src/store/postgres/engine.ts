import { petOrdered } from "../../core/orders.ts";
import type { Command, Performed } from "../../core/perform.ts";
import type { Writes } from "../../core/ports.ts";
import type { Engine, EngineOptions } from "../engine.ts";
import { sql } from "../statement.ts";
import { reads } from "../store.ts";
import { readsAskedTogether } from "./asked-together.ts";
import { askingDb, type TransactionOptions } from "./connection.ts";
import { accessLock } from "./locks.ts";
import { openPool, POOL_BOUNDS } from "./pool.ts";
import { pulse } from "./pulse.ts";
import { LOCK_MS, STATEMENT_MS, timeLeft } from "./times.ts";
import { together } from "./together.ts";
import { transact } from "./transact.ts";

/** A read is answered or refused within this, a write within that: together less than a request may take. */
const READ_MS = 2000;
const WRITE_MS = 3500;
const CONNECT_MS = 2000;
const IDLE_IN_TRANSACTION_MS = 5000;
/** How long a server that is well takes at most to say so. */
const WATCH_MS = 1000;

/**
 * Every question of a request has an index. The plan of a prepared statement is kept for as long as its connection, and
 * one that was made while a table was empty would read all of it ever after.
 */
const BY_INDEX = "set enable_seqscan = off; set jit = off";
/** Dealt out in this thread, so little at once. */
const FOLDED_AT_ONCE = 1024 * 1024;

/** Nothing is found and nothing is locked, but a server that takes no writes refuses it. */
const wouldWrite = sql`select name from duties where false for update`;

/** PostgreSQL: reads and writes in this process, on a bounded number of connections. */
export function openPostgresEngine(options: EngineOptions): Engine {
  const { url, rules, connections, perform, onFault } = options;
  const settings = {
    url,
    connectMs: CONNECT_MS,
    statementMs: STATEMENT_MS,
    lockMs: LOCK_MS,
    idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
    settings: BY_INDEX,
    isForWrites: true,
  };
  // Of one server: while either hears of it, neither gives it up.
  const server = pulse(options);
  const pool = openPool(settings, connections, POOL_BOUNDS, server);
  // One connection beside the others: that keys were revoked is seen, and that the server is ready, however many wait.
  const watching = openPool(settings, 1, POOL_BOUNDS, server);
  const watch = askingDb(watching, WATCH_MS);
  let forgetting: Promise<void> | undefined;
  /** One look for all who ask meanwhile: anybody may ask, and revoked keys are watched for on the same connection. */
  let looking: Promise<boolean> | undefined;
  const shared = together<Performed>(pool);
  const underWay = new Set<Promise<unknown>>();
  const counted = <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work);
    const settled = () => void underWay.delete(work);
    work.then(settled, settled);
    return work;
  };

  const performed = (command: Command): Promise<Performed> => {
    const work = (store: Writes) => perform(store, command, rules);
    const petId = petOrdered(command);
    if (petId === undefined)
      return transact(pool, { ...inTime(), locks: command.changesAccess ? [accessLock] : [] }, work);
    const { caller, idempotency } = command;
    const key = idempotency && `${caller.clientId} ${idempotency.key}`;
    return shared.perform({ petId, key, options: inTime(), work });
  };
  const forget = async (keptBefore: number) => {
    try {
      while (await transact(pool, inTime(), async (s) => s.forgetAnswers(keptBefore)));
    } catch (error) {
      // A sweep that failed is tried again with the next.
      onFault(error);
    } finally {
      forgetting = undefined;
    }
  };
  const isAnswering = async () => {
    try {
      await watch.get(wouldWrite, {});
      return pool.isReachable();
    } catch {
      return false;
    }
  };
  return {
    foldedAtOnce: FOLDED_AT_ONCE,
    reads: { ...readsAskedTogether(askingDb(pool, READ_MS)), accessRevision: reads(watch).accessRevision },
    perform: (command) => counted(performed(command)),
    forgetAnswers: (keptBefore) => {
      forgetting ??= forget(keptBefore);
    },
    isReady() {
      looking ??= isAnswering().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    figures() {
      const figures = pool.figures();
      return {
        engine: "postgres",
        ...figures,
        waitingWrites: figures.waitingWrites + shared.waiting(),
      };
    },
    async close() {
      await Promise.allSettled([...underWay, forgetting]);
      await Promise.all([pool.close(), watching.close()]);
    },
  };
}

function inTime(): Pick<TransactionOptions, "deadline" | "settings"> {
  return { deadline: Date.now() + WRITE_MS, settings: timeLeft };
}
