import { sleep } from "./sleep.ts";

/** How a client is made. */
export interface PetstoreOptions {
  /** Where the server is, such as `https://pets.example.com`. */
  readonly baseUrl: string;
  /** The API key, `ps_live_...`; left out only where a cookie signs in. */
  readonly apiKey?: string;
  /** How long one try may take, headers and body; 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is tried again; 4 by default. */
  readonly maxRetries?: number | undefined;
  /** The longest wait before another try; what would wait longer fails at once. 60,000 by default. */
  readonly maxRetryWaitMs?: number | undefined;
  /** Whether calls wait for their turn when the rate limit is spent, instead of being refused; `true` by default. */
  readonly pace?: boolean | undefined;
  /** The longest wait for a turn; 600,000 by default. */
  readonly maxPaceWaitMs?: number | undefined;
  /** What sends requests; the global `fetch` by default. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Who is told of deprecated operations (`warn`) and of tries that failed (`debug`); the console's `warn` by default. */
  readonly logger?: Logger | undefined;
  /** Time and chance, to be replaced in tests. */
  readonly surroundings?: Partial<Surroundings> | undefined;
}

/** What the client writes to. */
export interface Logger {
  warn(message: string): void;
  debug?(message: string): void;
}

/** Time and chance. */
export interface Surroundings {
  /** Milliseconds since any moment; only differences count. */
  now(): number;
  /** Waits, and rejects with the signal's reason when that aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** From 0 up to 1. */
  random(): number;
}

/** What can be said with any call. */
export interface CallOptions {
  /** Ends the call at any point, waits and the walk over a list included; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The client's `timeoutMs`, for this call. */
  readonly timeoutMs?: number | undefined;
  /** The client's `maxRetries`, for this call. */
  readonly maxRetries?: number | undefined;
  /** More request headers, such as `Prefer` or `X-Request-Id`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What can be said with a call that changes something. */
export interface WriteOptions extends CallOptions {
  /** Makes repetition safe over the life of a program too; without it every call has a random one for its tries. */
  readonly idempotencyKey?: string | undefined;
}

/** What can be said with a call that changes one record. */
export interface ChangeOptions extends WriteOptions {
  /** The record's ETag: if it has changed since, the call fails with `PreconditionFailedError`. */
  readonly ifMatch?: string | undefined;
}

/** What can be said with a stream of events. */
export interface StreamOptions extends CallOptions {
  /** Told `true` when it is connected, and `false` when it is not and will try again. */
  readonly onConnection?: ((isConnected: boolean) => void) | undefined;
}

/** The options with every default in its place. @internal */
export interface Settings extends Surroundings {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly maxRetryWaitMs: number;
  readonly pace: boolean;
  readonly maxPaceWaitMs: number;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly logger: Logger;
}

/** What bounds one call. @internal */
export type Limits = Pick<Settings, "timeoutMs" | "maxRetries">;

/** A call's own limits, and the rest by default. @internal */
export function limitsOf(own: Pick<CallOptions, keyof Limits>, { timeoutMs, maxRetries }: Limits): Limits {
  return checked({ timeoutMs: own.timeoutMs ?? timeoutMs, maxRetries: own.maxRetries ?? maxRetries });
}

/** NaN is above no limit and below none. */
function checked<T extends Readonly<Record<string, unknown>>>(limits: T): T {
  for (const [name, limit] of Object.entries(limits))
    if (!(typeof limit === "number" && limit >= 0))
      throw new TypeError(`${name} must be at least 0, got ${limit}.`);
  return limits;
}

/** @internal */
export function settingsOf(options: PetstoreOptions): Settings {
  const { baseUrl, apiKey } = options;
  if (!/^https?:/i.test(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError(`baseUrl must be an http(s) address, got ${baseUrl}.`);
  if ("apiKey" in options && !apiKey)
    throw new TypeError("apiKey is empty. Is the variable that holds it set?");
  return {
    baseUrl: baseUrl.replace(/\/+$/, ""),
    apiKey,
    ...checked({
      timeoutMs: options.timeoutMs ?? 30_000,
      maxRetries: options.maxRetries ?? 4,
      maxRetryWaitMs: options.maxRetryWaitMs ?? 60_000,
      maxPaceWaitMs: options.maxPaceWaitMs ?? 600_000,
    }),
    pace: options.pace ?? true,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    logger: options.logger ?? { warn: (message) => console.warn(message) },
    now: () => performance.now(),
    random: Math.random,
    sleep,
    ...options.surroundings,
  };
}
