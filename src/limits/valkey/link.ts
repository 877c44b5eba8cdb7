import { type Redis, ReplyError } from "ioredis";
import { driverOf, gathering, type Reply, run, runAsking } from "./driver.ts";
import { elsewhereOf, NotDone } from "./not-done.ts";
import { type Probing, probing } from "./probing.ts";
import type { ScriptName } from "./scripts.ts";
import { openWaits, type Waits } from "./waits.ts";

/** Valkey may be silent for so long while requests wait for it; then they are decided without it. */
export const TIMEOUT_MS = 80;
const NO_ANSWER_YET = "no answer yet";

export type Send = (script: ScriptName, ...args: string[]) => Promise<Reply>;

export interface LinkOptions {
  readonly url: string;
  /** Whether it is a node of a cluster, which may say that a slot is elsewhere. */
  readonly isNode: boolean;
  readonly timeoutMs: number;
  /** How long the first answer may take. */
  readonly firstAnswerMs: number;
  /** A key that may be written to find out whether Valkey takes writes, another if the last was refused for its slot; null if this node has none. */
  readonly probeKey: (isRefused: boolean) => string | null;
  /** Valkey answers; what it has missed is told, while requests still do without it. */
  readonly catchUp: (send: Send) => Promise<void>;
  readonly onDown: (cause: string) => void;
  /** It is still down, but it answers, and says why. */
  readonly onRefused: (cause: string) => void;
  /** From now on requests wait for it; what is sent here is there before all of them. */
  readonly onUp: (send: Send) => void;
}

export interface Link {
  readonly isUp: () => boolean;
  /** Runs a script. Fails when Valkey is silent for too long, and at once while it is away. */
  readonly send: Send;
  /** The same for a slot that the node is about to get. */
  readonly sendAsking: Send;
  /** Valkey has answered for the first time, or it is away. */
  readonly known: Promise<void>;
  close(): void;
}

/** What a link is made of, and how it stands. */
interface Line {
  readonly options: LinkOptions;
  readonly redis: Redis;
  readonly waits: Waits;
  readonly gather: () => void;
  readonly firstAnswer: PromiseWithResolvers<void>;
  state: "starting" | "up" | "down" | "closed";
  isCatchingUp: boolean;
  lastFault: string;
}

/**
 * A connection to Valkey, or to one node of a cluster, with a breaker. The first answer that does not come in time opens it: everything that waits is let
 * go, and no request waits again until a probe has been answered in time.
 */
export function openLink(options: LinkOptions): Link {
  const line = lineTo(options);
  const { redis, firstAnswer } = line;
  const probes = probesOf(line);
  listen(line, probes);
  redis.connect().catch(() => {});
  const atLatest = setTimeout(
    () => line.state === "starting" && goDown(line, "no answer"),
    options.firstAnswerMs,
  );
  const ifUp =
    (how: typeof run): Send =>
    (script, ...args) =>
      line.state === "up" ? answered(line, how, script, args) : Promise.reject(new NotDone(line.lastFault));

  return {
    isUp: () => line.state === "up",
    send: ifUp(run),
    sendAsking: ifUp(runAsking),
    known: firstAnswer.promise,
    close() {
      probes.stop();
      clearTimeout(atLatest);
      line.state = "closed";
      goDown(line, "closed");
      firstAnswer.resolve();
      redis.disconnect();
    },
  };
}

function lineTo(options: LinkOptions): Line {
  const redis = driverOf(options.url);
  const line: Line = {
    options,
    redis,
    waits: openWaits(options.timeoutMs, (cause) => goDown(line, cause)),
    gather: gathering(redis),
    firstAnswer: Promise.withResolvers<void>(),
    state: "starting",
    isCatchingUp: false,
    lastFault: NO_ANSWER_YET,
  };
  return line;
}

function probesOf(line: Line): Probing {
  const { timeoutMs, probeKey, isNode, url } = line.options;
  return probing(line.redis, {
    timeoutMs,
    isWanted: () => line.state !== "up" && line.state !== "closed" && !line.isCatchingUp,
    key: probeKey,
    isElsewhere: (error) => isNode && elsewhereOf(error, url) !== null,
    onAnswer: () => void comeBack(line),
    onFault: (error) => goDown(line, error.message, error instanceof ReplyError),
  });
}

function listen(line: Line, probes: Probing): void {
  const { redis } = line;
  redis.on("error", (error: Error) => {
    line.lastFault = error.message || String((error as { code?: unknown }).code ?? error);
    if (line.state === "starting" || error instanceof ReplyError) goDown(line, line.lastFault, true);
  });
  redis.on("close", () =>
    goDown(line, line.lastFault === NO_ANSWER_YET ? "the connection was closed" : line.lastFault),
  );
  redis.on("ready", () => {
    line.lastFault = "the connection was closed";
    probes.restart();
  });
}

function answered(line: Line, how: typeof run, script: ScriptName, args: string[]): Promise<Reply> {
  const { redis, waits } = line;
  if (redis.status !== "ready") return Promise.reject(new NotDone(line.lastFault));
  return new Promise((resolve, reject) => {
    const wait = waits.begin(reject);
    line.gather();
    how(redis, script, args).then(
      (reply) => {
        waits.heard();
        waits.end(wait);
        resolve(reply);
      },
      (error: Error) => {
        waits.end(wait);
        failed(line, error, reject);
      },
    );
  });
}

/** Any error opens the breaker, but not that a slot is elsewhere. */
function failed(line: Line, error: Error, reject: (error: Error) => void): void {
  const { isNode, url } = line.options;
  const elsewhere = isNode ? elsewhereOf(error, url) : null;
  if (elsewhere) {
    line.waits.heard();
    reject(elsewhere);
    return;
  }
  // An answer that is an error: the script did nothing. Without an answer nobody knows.
  const isAnswer = error instanceof ReplyError;
  reject(isAnswer ? new NotDone(error.message) : error);
  goDown(line, error.message, isAnswer);
}

function goDown(line: Line, cause: string, isAnswer = false): void {
  const { waits, options, firstAnswer } = line;
  waits.letGo(cause);
  if (line.state === "down" && isAnswer) options.onRefused(cause);
  if (line.state === "down" || line.state === "closed") return;
  line.state = "down";
  firstAnswer.resolve();
  options.onDown(cause);
}

async function comeBack(line: Line): Promise<void> {
  const { options, redis, firstAnswer } = line;
  const send: Send = (script, ...args) => answered(line, run, script, args);
  line.isCatchingUp = true;
  try {
    await options.catchUp(send);
    if (redis.status !== "ready" || line.state === "closed") return;
    line.state = "up";
    options.onUp(send);
    firstAnswer.resolve();
  } catch (error) {
    goDown(line, String(error));
  } finally {
    line.isCatchingUp = false;
  }
}
