import { Redis, ReplyError } from "ioredis";
import { addressOf, NO_NAME } from "./owners.ts";
import { type ScriptName, scripts } from "./scripts.ts";

/** Valkey may be silent for so long while requests wait for it; then they are decided without it. */
export const TIMEOUT_MS = 80;
/** And so much longer may one request wait while others are answered: a burst that is worked off is no outage. */
const LONGEST_MS = 400;
/** How late a timer may be to be believed. */
const LATE_MS = 10;
/** How often it is tried whether Valkey is back. */
const PROBE_EVERY_MS = 100;
/** A connection that says nothing for this long while it is probed is given up for a new one. */
const STUCK_MS = 1000;
const RECONNECT_MS = 100;
const CONNECT_TIMEOUT_MS = 1000;
const PROBE_KEPT_MS = 10_000;

/** Numbers, and text where a list is told. */
export type Reply = readonly (number | string)[];
export type Send = (script: ScriptName, ...args: string[]) => Promise<Reply>;

/** The command was not done. Any other failure leaves open whether it was. */
export class NotDone extends Error {}

/**
 * A node of a cluster answers, but not for this slot: another has it ("MOVED") or is about to get it ("ASK"), its keys are
 * on both just now ("TRYAGAIN"), or nobody has it ("CLUSTERDOWN").
 */
export class Elsewhere extends NotDone {
  constructor(
    message: string,
    readonly kind: string,
    readonly address: string | null,
  ) {
    super(message);
  }
}

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
  readonly settled: Promise<void>;
  close(): void;
}

interface Waiting {
  readonly since: number;
  readonly fail: (error: Error) => void;
}

/**
 * A connection to Valkey, or to one node of a cluster, with a breaker. The first answer that does not come in time opens it: everything that waits is let
 * go, and no request waits again until a probe has been answered in time.
 */
export function openLink(options: LinkOptions): Link {
  const { url, timeoutMs, catchUp, onDown, onRefused, onUp } = options;
  const redis = new Redis(url, {
    scripts,
    lazyConnect: true,
    // Nothing is queued, sent again or waited for by the driver: what cannot be done now is decided without Valkey.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: RECONNECT_MS,
    maxLoadingRetryTime: STUCK_MS,
    retryStrategy: () => RECONNECT_MS,
    // After a failover the old address may lead to a replica; a new connection may find the new primary.
    reconnectOnError: ({ message }) => message.startsWith("READONLY"),
  });
  const waiting = new Set<Waiting>();
  const firstAnswer = Promise.withResolvers<void>();
  let state: "starting" | "up" | "down" | "closed" = "starting";
  let timer: Timer | undefined;
  let answeredAt = 0;
  let lastFault = "no answer yet";

  const send: Send = (script, ...args) =>
    answered(() => (redis as unknown as Record<ScriptName, Send>)[script](...(args as [ScriptName])));
  // As a whole, because the driver would send it again without asking if it were not known by its hash.
  const sendAsking: Send = (script, ...args) =>
    answered(() => {
      redis.asking().catch(() => {});
      const { lua, numberOfKeys } = scripts[script];
      return redis.eval(lua, numberOfKeys, ...args) as Promise<Reply>;
    });
  // What is sent in one turn leaves in one piece.
  let isGathering = false;
  const gather = () => {
    if (isGathering) return;
    const { stream } = redis;
    isGathering = true;
    stream.cork();
    process.nextTick(() => {
      isGathering = false;
      stream.uncork();
    });
  };
  const answered = (command: () => Promise<Reply>): Promise<Reply> => {
    if (redis.status !== "ready") return Promise.reject(new NotDone(lastFault));
    return new Promise((resolve, reject) => {
      const each: Waiting = { since: performance.now(), fail: reject };
      waiting.add(each);
      if (!timer) arm(timeoutMs);
      gather();
      command().then(
        (reply) => {
          answeredAt = performance.now();
          waiting.delete(each);
          resolve(reply);
        },
        (error: Error) => {
          waiting.delete(each);
          const elsewhere = options.isNode ? elsewhereOf(error, url) : null;
          if (elsewhere) {
            answeredAt = performance.now();
            return reject(elsewhere);
          }
          // An answer that is an error: the script did nothing. Without an answer nobody knows.
          const isAnswer = error instanceof ReplyError;
          reject(isAnswer ? new NotDone(error.message) : error);
          goDown(error.message, isAnswer);
        },
      );
    });
  };
  /** One timer for all that waits: it looks at how long nothing was answered, and at the oldest. */
  const arm = (ms: number, isLastTurn = false) => {
    timer = setTimeout(look, ms, performance.now() + ms, isLastTurn);
  };
  const look = (dueAt: number, isLastTurn: boolean) => {
    timer = undefined;
    const [oldest] = waiting;
    if (!oldest) return;
    const now = performance.now();
    const quietMs = now - Math.max(oldest.since, answeredAt);
    const waitedMs = now - oldest.since;
    if (quietMs < timeoutMs && waitedMs < timeoutMs + LONGEST_MS) return arm(timeoutMs - quietMs);
    // A late timer tells of this process, not of Valkey: answers may lie in the socket unread. They get one more turn.
    if (now - dueAt > LATE_MS && !isLastTurn) return arm(LATE_MS, true);
    goDown(quietMs < timeoutMs ? `answers take ${Math.round(waitedMs)} ms` : `no answer in ${timeoutMs} ms`);
  };
  const goDown = (cause: string, isAnswer = false) => {
    for (const { fail } of waiting) fail(new Error(cause));
    waiting.clear();
    clearTimeout(timer);
    timer = undefined;
    if (state === "down" && isAnswer) onRefused(cause);
    if (state === "down" || state === "closed") return;
    state = "down";
    firstAnswer.resolve();
    onDown(cause);
  };

  let isCatchingUp = false;
  let probeSentAt: number | undefined;
  let isProbeRefused = false;
  let unreadySince: number | undefined;
  const reconnect = () => {
    probeSentAt = undefined;
    unreadySince = undefined;
    redis.disconnect(true);
  };
  const probe = () => {
    if (state === "up" || state === "closed" || isCatchingUp) return;
    const now = performance.now();
    if (redis.status !== "ready") {
      unreadySince ??= now;
      const isTrying = redis.status === "connecting" || redis.status === "connect";
      if (isTrying && now - unreadySince > STUCK_MS) reconnect();
      return;
    }
    unreadySince = undefined;
    if (probeSentAt !== undefined) {
      if (now - probeSentAt > STUCK_MS) reconnect();
      return;
    }
    probeSentAt = now;
    // A write, because a server that is full or read-only answers a ping all the same.
    const key = options.probeKey(isProbeRefused);
    isProbeRefused = false;
    (key === null ? redis.ping() : redis.set(key, "1", "PX", PROBE_KEPT_MS)).then(
      () => {
        const isInTime = probeSentAt === now && performance.now() - now <= timeoutMs;
        probeSentAt = undefined;
        if (isInTime) void comeBack();
      },
      (error: Error) => {
        probeSentAt = undefined;
        // The slot is on its way to another node, or there already: that says nothing of this one.
        isProbeRefused = options.isNode && elsewhereOf(error, url) !== null;
        if (!isProbeRefused) goDown(error.message, error instanceof ReplyError);
      },
    );
  };
  const comeBack = async () => {
    isCatchingUp = true;
    try {
      await catchUp(send);
      if (redis.status !== "ready" || state === "closed") return;
      state = "up";
      onUp(send);
      firstAnswer.resolve();
    } catch (error) {
      goDown(String(error));
    } finally {
      isCatchingUp = false;
    }
  };

  redis.on("error", (error: Error) => {
    lastFault = error.message || String((error as { code?: unknown }).code ?? error);
    if (state === "starting" || error instanceof ReplyError) goDown(lastFault, true);
  });
  redis.on("close", () => goDown(lastFault === "no answer yet" ? "the connection was closed" : lastFault));
  redis.on("ready", () => {
    lastFault = "the connection was closed";
    probeSentAt = undefined;
    probe();
  });
  redis.connect().catch(() => {});
  const probing = setInterval(probe, PROBE_EVERY_MS);
  const atLatest = setTimeout(() => state === "starting" && goDown("no answer"), options.firstAnswerMs);

  const ifUp =
    (through: Send): Send =>
    (...args) =>
      state === "up" ? through(...args) : Promise.reject(new NotDone(lastFault));

  return {
    isUp: () => state === "up",
    send: ifUp(send),
    sendAsking: ifUp(sendAsking),
    settled: firstAnswer.promise,
    close() {
      clearInterval(probing);
      clearTimeout(atLatest);
      state = "closed";
      goDown("closed");
      firstAnswer.resolve();
      redis.disconnect();
    },
  };
}

/** A node that does not tell the other's host means its own. */
function elsewhereOf({ message }: Error, url: string): Elsewhere | null {
  const [, kind, host, port] = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(message) ?? [];
  const address = host === NO_NAME ? null : addressOf(host || new URL(url).hostname, port as string);
  if (kind) return new Elsewhere(message, kind, address);
  const [other] = /^TRYAGAIN|^CLUSTERDOWN(?= Hash slot not served)/.exec(message) ?? [];
  return other ? new Elsewhere(message, other, null) : null;
}
