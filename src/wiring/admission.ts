import type { Behind } from "../core/behind.ts";
import { causeOf, Unavailable } from "../core/failure.ts";
import { consoleFolder } from "../files.ts";
import { type Callers, callers as knownCallers } from "../http/caller.ts";
import { type Console, openConsole } from "../http/console/console.ts";
import { type WriteBehind, writeBehind } from "../limits/behind.ts";
import { type MemoryLimits, type MemoryOptions, memoryLimits } from "../limits/memory.ts";
import { type UsageCounter, usageCounter } from "../limits/usage.ts";
import type { ValkeyLimits } from "../limits/valkey/limits.ts";
import { atMost } from "./at-most.ts";
import { banKeeper } from "./ban-keeper.ts";
import type { Data } from "./data.ts";
import type { House } from "./house.ts";
import { forThoseWhoLook } from "./looks.ts";
import { isTold, valkeyTold } from "./told.ts";

/** How long a change of who may do what waits for what was counted to be written down. */
const SETTLE_MS = 3000;

/** Who asks, and how much they may. */
export interface Admission {
  readonly limits: MemoryLimits;
  readonly valkey: ValkeyLimits | null;
  readonly callers: Callers;
  readonly record: UsageCounter["record"];
  /** For people; `null` if it is turned off. */
  readonly console: Console | null;
  /** Brings what was counted into the database, or refuses: what is decided by it would be decided wrongly. */
  settle(): Promise<void>;
  /** How long ago all was written down that was counted. */
  lagMs(): number;
  /** Writes what is left. */
  stop(): Promise<void>;
}

export async function openAdmission(house: House, { engine, store, perform }: Data): Promise<Admission> {
  const { config, rules, meters, log, life } = house;
  const usage = usageCounter();
  const limiting: MemoryOptions = {
    bans: rules.bans,
    anonymous: { perMinute: config.anonymousPerMinute, perDay: config.anonymousPerDay },
    onBan: (ban) => {
      meters.counts.bansEarned += 1;
      bans.keep(ban);
    },
    tell: (event) => behind.tell(event),
  };
  const valkey = await openValkey(house, limiting, () => callers.forget());
  const limits = valkey ?? memoryLimits(limiting);
  const keep = async (part: Behind) => void (await perform("behind.keep", part));
  const behind = writeBehind({
    log: engine.counts,
    limits,
    usage,
    keep,
    fold: async () => {
      const { body } = await perform("behind.fold", { bytesAtOnce: engine.foldedAtOnce });
      return (body as { isDone: boolean }).isDone;
    },
    foldAfterBytes: engine.foldedAtOnce,
    onTrim: () => callers.forget(),
    onFault: (error) => countsFailed(house, error),
  });
  if (engine.counts) engine.counts.show = forThoseWhoLook(behind.show);
  const known = { store, introduce: limits.introduce, keyWasUsed: behind.keyWasUsed };
  const console = config.console
    ? openConsole({ ...known, folder: consoleFolder, trustProxy: config.trustProxy })
    : null;
  const callers = knownCallers({ ...known, sessions: console?.sessions });
  const bans = banKeeper({
    keep: async (ban) => void (await perform("behind.ban", ban)),
    onKept: (ban) => {
      callers.forget();
      limits.banIsKept(ban);
    },
    isClosing: () => life.isClosing,
    log,
  });

  await valkey?.known;
  await takeOver(behind, log);
  return {
    limits,
    valkey,
    callers,
    record: usage.record,
    console,
    async settle() {
      const written = Promise.all([behind.flush(), bans.settled()]).catch(refuseUnwritten);
      if (!(await atMost(SETTLE_MS, written)))
        throw new Unavailable("What was counted could not be written down in time.");
    },
    lagMs: behind.lagMs,
    stop: behind.stop,
  };
}

/** The log has the cause already. */
function refuseUnwritten(error: unknown): never {
  throw isTold(error) ? error : new Unavailable("What was counted could not be written down.");
}

/** Requests are counted on from rows, so what the last run left must be in them first. */
async function takeOver(behind: WriteBehind, log: House["log"]): Promise<void> {
  await behind
    .fold()
    .catch((error) =>
      log.warn(
        "Counts of the last run could not be brought into rows; limits go on without its last half minute.",
        { cause: causeOf(error) },
      ),
    );
}

function countsFailed({ meters, life, log }: House, error: unknown): void {
  meters.counts.behindFailures += 1;
  if (!life.isClosing && isTold(error)) return;
  log.warn(
    life.isClosing
      ? "Counts could not be written down before the end; what the next start does not find is lost."
      : "Counts could not be written down; they are kept for the next time.",
    { cause: causeOf(error) },
  );
}

/** The limits that instances share, if there are any; `onBack`: what was known may be old. */
async function openValkey(
  { config, clock, isClockMoved, valkeyTimeoutMs, log }: House,
  limiting: MemoryOptions,
  onBack: () => void,
): Promise<ValkeyLimits | null> {
  if (config.valkeyUrls === null) return null;
  const told = valkeyTold(log);
  const { valkeyLimits } = await import("../limits/valkey/limits.ts");
  return valkeyLimits({
    ...limiting,
    ...told,
    urls: config.valkeyUrls,
    prefix: config.valkeyPrefix,
    clock: isClockMoved ? clock : "server",
    timeoutMs: valkeyTimeoutMs,
    onBack: (node) => {
      told.onBack(node);
      onBack();
    },
  });
}
