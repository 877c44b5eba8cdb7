import type { Int64 } from "../../contract/shapes.ts";
import { Conflict, Failure } from "../../core/failure.ts";
import type { Writes } from "../../core/ports.ts";
import { inTransaction, type TransactionOptions } from "./connection.ts";
import type { Pool } from "./pool.ts";
import { transact, workedTogether } from "./transact.ts";

/** Writes that share a transaction at most. */
const TOGETHER = 32;
/** How long they wait for a row that somebody else has, before each goes on by itself: only one of them may want it. */
const LOCK_MS = 500;

/** A write that can share a transaction with others. */
export interface Shareable<T> {
  /** The pet whose row it changes: rows are taken in one order, so that two transactions never wait for each other. */
  readonly petId: Int64;
  /** Two of one name cannot share: the second waits for what the first has done. */
  readonly name: string | undefined;
  readonly options: TransactionOptions;
  readonly work: (store: Writes) => Promise<T>;
}

interface Waiting<T> extends Shareable<T> {
  readonly answer: PromiseWithResolvers<T>;
}

/** Those that wait for the same connection. */
interface Group<T> {
  readonly members: Waiting<T>[];
  readonly names: Set<string>;
}

export interface Together<T> {
  perform(write: Shareable<T>): Promise<T>;
  /** Writes that wait for the connection of another. */
  waiting(): number;
}

/**
 * A write that finds a connection free has a transaction of its own. Those that must wait for one wait together, and share
 * what one costs: its messages, its commit, the sync of the disk.
 */
export function together<T>(pool: Pool): Together<T> {
  /** The one that takes more. */
  let open: Group<T> | undefined;
  const waiting = new Set<Group<T>>();
  const begin = ({ options }: Shareable<T>): Group<T> => {
    const group: Group<T> = { members: [], names: new Set() };
    waiting.add(group);
    const closed = () => {
      if (open === group) open = undefined;
      waiting.delete(group);
      return group.members.sort((a, b) => (a.petId < b.petId ? -1 : 1));
    };
    void doTogether(pool, options.deadline, closed);
    return group;
  };
  return {
    perform(write) {
      const { name, options, work } = write;
      const isTwin = name !== undefined && open?.names.has(name);
      if (isTwin || !pool.isTaken("write")) return transact(pool, options, work);
      const member = { ...write, answer: Promise.withResolvers<T>() };
      open ??= begin(write);
      open.members.push(member);
      if (name !== undefined) open.names.add(name);
      if (open.members.length === TOGETHER) open = undefined;
      return member.answer.promise;
    },
    waiting: () => [...waiting].reduce((sum, { members }) => sum + members.length - 1, 0),
  };
}

/** Does all that wait by the time that there is a connection; what cannot be done together, or has none in time, is done one by one. */
async function doTogether<T>(pool: Pool, deadline: number, closed: () => Waiting<T>[]): Promise<void> {
  let isBegun = false;
  try {
    const outcomes = await inTransaction(pool, { deadline, settings: lessWaiting }, (db) => {
      isBegun = true;
      return workedTogether(
        db,
        closed().map(({ work }) => work),
      );
    });
    for (const [place, member] of closed().entries())
      tell(pool, member, outcomes[place] as PromiseSettledResult<T>);
  } catch (error) {
    // Nothing is refused with all others but when the commit was sent and what became of it is not known.
    const isUnknown = isBegun && error instanceof Failure;
    for (const member of closed())
      if (isUnknown) member.answer.reject(error);
      else doAlone(pool, member);
  }
}

function tell<T>(pool: Pool, member: Waiting<T>, outcome: PromiseSettledResult<T>): void {
  if (outcome.status === "fulfilled") member.answer.resolve(outcome.value);
  else if (outcome.reason instanceof Conflict) doAlone(pool, member);
  else member.answer.reject(outcome.reason);
}

function doAlone<T>(pool: Pool, { options, work, answer }: Waiting<T>): void {
  transact(pool, options, work).then(answer.resolve, answer.reject);
}

function lessWaiting(): string {
  return `set local lock_timeout = ${LOCK_MS}`;
}
