import { Unavailable } from "../../core/failure.ts";
import type { Inspected, OpenedStore } from "../engine.ts";
import { reads } from "../store.ts";
import { askingDb } from "./connection.ts";
import { diagnoseDatabase } from "./doctor.ts";
import { orderedEventReads } from "./events.ts";
import { accessLock } from "./locks.ts";
import { migrate, requireCurrentDatabase } from "./migrate.ts";
import { inFilling, inSnapshot } from "./move.ts";
import { openPool, POOL_BOUNDS, type Pool } from "./pool.ts";
import { transact } from "./transact.ts";
import { classified } from "./trouble.ts";
import { openWire, type Wire, type WireSettings } from "./wire.ts";

/** A command has time: it may migrate a large store, look at all of it, or wait for another that does. */
const PATIENCE_MS = 10 * 60_000;
const LOCK_PATIENCE_MS = 60_000;
const CONNECTIONS = 2;

/** Opens the database for a command, and brings its tables up to date. */
export async function openPostgresStore(url: string, now: number): Promise<OpenedStore> {
  const migrated = await withWire(url, (wire) => migrate(wire, now));
  const pool = patientPool(url);
  return {
    ...inspected(pool),
    migrated,
    // One at a time over all instances: two that start at once make one operator and one first key.
    transact: (work) => transact(pool, { deadline: Date.now() + PATIENCE_MS, locks: [accessLock] }, work),
    fill: (work) => inFilling(pool, work),
  };
}

/** Opens the database to look at it; it must be there and up to date. */
export async function inspectPostgres(url: string): Promise<Inspected> {
  await withWire(url, requireCurrentDatabase);
  return inspected(patientPool(url));
}

function inspected(pool: Pool): Inspected {
  const db = askingDb(pool, PATIENCE_MS);
  return {
    reads: { ...reads(db), ...orderedEventReads(db) },
    diagnose: () => diagnoseDatabase(pool, Date.now() + PATIENCE_MS),
    snapshot: (work) => inSnapshot(pool, work),
    close: () => pool.close(),
  };
}

function patientPool(url: string): Pool {
  return openPool(patient(url), CONNECTIONS, { ...POOL_BOUNDS, waitMs: LOCK_PATIENCE_MS });
}

function patient(url: string): WireSettings {
  return { url, connectMs: 5000, statementMs: PATIENCE_MS, lockMs: LOCK_PATIENCE_MS, idleInTransactionMs: 0 };
}

async function withWire<T>(url: string, work: (wire: Wire) => Promise<T>): Promise<T> {
  let wire: Wire;
  try {
    wire = await openWire(patient(url), () => {});
  } catch (error) {
    throw new Unavailable(error);
  }
  try {
    return await work(wire);
  } catch (error) {
    throw classified(error);
  } finally {
    await wire.close();
  }
}
