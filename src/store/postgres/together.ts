import type { Int64 } from "../../contract/shapes.ts";
import { Conflict, Failure, Unavailable } from "../../core/failure.ts";
import { tooManyWait } from "../trouble.ts";
import { inTransaction, type TransactionOptions } from "./connection.ts";
import type { Pool } from "./pool.ts";
import { NotTogether, type Shared, workedTogether } from "./sharing.ts";
import { sharedTimeLeft } from "./times.ts";
import { transact } from "./transact.ts";

/** Writes that share a transaction at most. */
const TOGETHER = 32;
/** Writes that may wait so; more are refused at once. */
const MOST_WAITING = 10_000;
/** How long others join one that waits: whoever shares a transaction has no more time than the first of them. */
const JOINING_MS = 500;

/** A write that can share a transaction with others. Two of one key cannot: the second waits for what the first has done. */
export interface Shareable<T> extends Shared<T> {
  /** The pet whose row it changes. */
  readonly petId: Int64;
  readonly options: Pick<TransactionOptions, "deadline" | "settings">;
}

interface Waiting<T> extends Shareable<T> {
  readonly answer: PromiseWithResolvers<T>;
}

/** Those that wait for the same connection. */
interface Group<T> {
  readonly members: Waiting<T>[];
  readonly keys: Set<string>;
  /** Whoever has more time than this does not join any more. */
  readonly lastDeadline: number;
}

export interface Together<T> {
  perform(write: Shareable<T>): Promise<T>;
  /** Writes that wait for the connection that another has asked for. */
  waiting(): number;
}

/**
 * A write that finds a connection free has a transaction of its own. Those that must wait for one wait together, and share
 * what a transaction costs: its messages, its commit, the sync of the disk.
 */
export function together<T>(pool: Pool): Together<T> {
  /** The group that takes more. */
  let gathering: Group<T> | undefined;
  const groups = new Set<Group<T>>();
  const waiting = () => {
    let sum = 0;
    for (const { members } of groups) sum += members.length - 1;
    return sum;
  };
  const begin = ({ options: { deadline } }: Shareable<T>): Group<T> => {
    const group: Group<T> = { members: [], keys: new Set(), lastDeadline: deadline + JOINING_MS };
    groups.add(group);
    const close = () => {
      groups.delete(group);
      if (gathering === group) gathering = undefined;
    };
    void doTogether(pool, deadline, group.members, close);
    return group;
  };
  const join = (write: Shareable<T>): Promise<T> => {
    if (gathering && write.options.deadline > gathering.lastDeadline) gathering = undefined;
    gathering ??= begin(write);
    const { members, keys } = gathering;
    const member = { ...write, answer: Promise.withResolvers<T>() };
    members.push(member);
    if (write.key !== undefined) keys.add(write.key);
    if (members.length === TOGETHER) gathering = undefined;
    return member.answer.promise;
  };
  return {
    async perform(write) {
      const { key, options, work } = write;
      const isTwin = key !== undefined && gathering?.keys.has(key);
      if (isTwin || !pool.isTaken("write")) return transact(pool, options, work);
      if (waiting() >= MOST_WAITING) throw tooManyWait("writes");
      return join(write);
    },
    waiting,
  };
}

/** Does all that wait together by the time that there is a connection; then nobody joins them any more. */
async function doTogether<T>(
  pool: Pool,
  deadline: number,
  members: Waiting<T>[],
  close: () => void,
): Promise<void> {
  try {
    const outcomes = await inTransaction(pool, { deadline, settings: sharedTimeLeft }, (db) => {
      close();
      // Rows are taken in one order, so that two transactions never wait for each other in a circle; those of one pet as they came.
      members.sort((a, b) => Number(a.petId) - Number(b.petId));
      return workedTogether(db, members);
    });
    for (const [place, member] of members.entries())
      tell(pool, member, outcomes[place] as PromiseSettledResult<T>);
  } catch (error) {
    close();
    // No connection came in time, or none is to be had; or the commit was sent, and what became of it is not known.
    const isOver = error instanceof Failure;
    const cause = error instanceof NotTogether ? error.cause : error;
    for (const member of members)
      if (isOver) member.answer.reject(error);
      else doAlone(pool, member, cause);
  }
}

function tell<T>(pool: Pool, member: Waiting<T>, outcome: PromiseSettledResult<T>): void {
  if (outcome.status === "fulfilled") member.answer.resolve(outcome.value);
  else if (outcome.reason instanceof Conflict) doAlone(pool, member, outcome.reason);
  else member.answer.reject(outcome.reason);
}

/** Nothing of it was done yet, for this cause. */
function doAlone<T>(pool: Pool, { options, work, answer }: Waiting<T>, cause: unknown): void {
  if (Date.now() >= options.deadline) answer.reject(new Unavailable(cause));
  else transact(pool, options, work).then(answer.resolve, answer.reject);
}
