import type { Int64 } from "../../contract/shapes.ts";
import { Conflict, Failure, Unavailable } from "../../core/failure.ts";
import type { Writes } from "../../core/ports.ts";
import { tooManyWait } from "../trouble.ts";
import { inTransaction, type TransactionOptions } from "./connection.ts";
import type { Pool } from "./pool.ts";
import { sharedTimeLeft } from "./times.ts";
import { transact, workedTogether } from "./transact.ts";

/** Writes that share a transaction at most. */
const TOGETHER = 32;
/** Writes that may wait so; more are refused at once. */
const MOST_WAITING = 10_000;

/** A write that can share a transaction with others. */
export interface Shareable<T> {
  /** The pet whose row it changes. */
  readonly petId: Int64;
  /** Two of one key cannot share: the second waits for what the first has done. */
  readonly key: string | undefined;
  readonly options: Pick<TransactionOptions, "deadline" | "settings">;
  readonly work: (store: Writes) => Promise<T>;
}

interface Waiting<T> extends Shareable<T> {
  readonly answer: PromiseWithResolvers<T>;
}

/** Those that wait for the same connection. */
interface Group<T> {
  readonly members: Waiting<T>[];
  readonly keys: Set<string>;
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
  const begin = ({ options }: Shareable<T>): Group<T> => {
    const group: Group<T> = { members: [], keys: new Set() };
    groups.add(group);
    const close = () => {
      groups.delete(group);
      if (gathering === group) gathering = undefined;
      return group.members.sort(inOrder);
    };
    void doTogether(pool, options.deadline, close);
    return group;
  };
  const join = (write: Shareable<T>): Promise<T> => {
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

/** Rows and keys are taken in one order, so that two transactions never wait for each other in a circle. */
function inOrder(a: Shareable<unknown>, b: Shareable<unknown>): number {
  return Number(a.petId) - Number(b.petId) || compared(a.key ?? "", b.key ?? "");
}

function compared(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}

/** Does all that wait together by the time that there is a connection: nobody joins them any more, and they come in order. */
async function doTogether<T>(
  pool: Pool,
  deadline: number,
  close: () => readonly Waiting<T>[],
): Promise<void> {
  try {
    const outcomes = await inTransaction(pool, { deadline, settings: sharedTimeLeft }, (db) =>
      workedTogether(
        db,
        close().map(({ work }) => work),
      ),
    );
    for (const [place, member] of close().entries())
      tell(pool, member, outcomes[place] as PromiseSettledResult<T>);
  } catch (error) {
    // There was no connection in time; or the commit was sent, and what became of it is not known.
    const isOver = error instanceof Failure;
    for (const member of close())
      if (isOver) member.answer.reject(error);
      else doAlone(pool, member, error);
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
