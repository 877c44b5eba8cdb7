import type { IncomingMessage, RequestOptions } from "node:http";
import { RESPONSE_CHARACTERS } from "../contract/bounds.ts";
import { DAY_SECONDS } from "../contract/days.ts";
import { reasonOf } from "../core/attempts.ts";
import type { Attempt, Attempted } from "../core/delivering.ts";
import { isAddress, isPublicAddress } from "../core/public-addresses.ts";
import type { FailureReason } from "../core/webhook-ports.ts";
import { hostOf } from "../core/webhook-rules.ts";

/** How long a receiver has for its whole answer. */
export const RECEIVER_MS = 15_000;
/** Bytes of an answer that are read; the rest is not waited for. */
const RESPONSE_BYTES = 4 * RESPONSE_CHARACTERS;
/** Answers such as `103 Early Hints` before the one that counts: a receiver has no use for many, and each takes time. */
const INTERIM_ANSWERS = 10;
/** Seconds; what is longer is as good as this. */
const LONGEST_RETRY_AFTER = DAY_SECONDS;

/** The addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** What came of sending something. */
export type Sent = Pick<
  Attempted,
  "reason" | "responseStatus" | "responseBody" | "durationMs" | "retryAfterSeconds"
>;

/** Sends; `null`: it was broken off by the signal, and nobody knows what came of it. */
export type Send = (attempt: Attempt, signal?: AbortSignal) => Promise<Sent | null>;

export interface SenderOptions {
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
  readonly userAgent: string;
  readonly timeoutMs?: number;
}

/** A sender may not reach what only we can reach. */
class PrivateAddress extends Error {}

/**
 * Sends requests to addresses that strangers chose. The connection is made to the very addresses that were judged: they are
 * looked up for it and never again. Redirects are not followed, and no proxy of the environment is used.
 */
export function guardedSender(options: SenderOptions): Send {
  const { allowPrivate, timeoutMs = RECEIVER_MS } = options;
  const lookup: RequestOptions["lookup"] = (hostname, { all }, done) => {
    judged(options, hostname).then(
      (addresses) =>
        all ? done(null, addresses) : done(null, addresses[0]?.address ?? "", addresses[0]?.family),
      (error) => done(error, []),
    );
  };
  return async ({ url: address, headers, body }, given) => {
    const started = performance.now();
    const told = (part: Partial<Sent>): Sent => ({
      reason: null,
      responseStatus: null,
      responseBody: null,
      retryAfterSeconds: null,
      ...part,
      durationMs: Math.round(performance.now() - started),
    });
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const url = new URL(address);
      requireAllowed(url, allowPrivate);
      const response = await answered(url, body, {
        method: "POST",
        // A connection of its own: one that is kept would lead to an address that was judged long ago.
        agent: false,
        lookup,
        signal: given ? AbortSignal.any([deadline, given]) : deadline,
        headers: {
          ...headers,
          "content-type": "application/cloudevents+json; charset=utf-8",
          "content-length": Buffer.byteLength(body),
          "user-agent": options.userAgent,
          accept: "*/*",
        },
      });
      const status = response.statusCode ?? 0;
      return told({
        reason: reasonOf(status),
        responseStatus: status,
        responseBody: await beginningOf(response),
        retryAfterSeconds: retryAfterOf(response.headers["retry-after"]),
      });
    } catch (error) {
      if (given?.aborted) return null;
      return told({ reason: deadline.aborted ? "timeout" : failureOf(error) });
    }
  };
}

/** What the rules refuse whatever a name leads to; the host may be an address, which is not looked up. */
function requireAllowed({ protocol, hostname }: URL, allowPrivate: boolean): void {
  if (allowPrivate) return;
  const host = hostOf(hostname);
  if (protocol !== "https:" || (isAddress(host) && !isPublicAddress(host))) throw new PrivateAddress();
}

/**
 * The addresses of a name, if all of them may be reached. One that leads to a private address is answered as one that leads nowhere:
 * else whoever makes webhooks could ask which names there are inside.
 */
async function judged(
  { resolve, allowPrivate }: SenderOptions,
  hostname: string,
): Promise<{ address: string; family: number }[]> {
  const addresses = await resolve(hostname);
  const isReachable = addresses.length > 0 && (allowPrivate || addresses.every(isPublicAddress));
  if (!isReachable) throw Object.assign(new Error("no address"), { code: "ENOTFOUND" });
  return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

async function answered(url: URL, body: string, options: RequestOptions): Promise<IncomingMessage> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve, reject) => {
    const unanswered = () => reject(Object.assign(new Error("no answer"), { code: "HPE_NO_ANSWER" }));
    let interim = 0;
    const sent = request(url, options, resolve);
    sent.on("information", () => {
      interim += 1;
      if (interim > INTERIM_ANSWERS)
        sent.destroy(Object.assign(new Error("too many interim answers"), { code: "HPE_INTERIM" }));
    });
    // A receiver that would change protocols gives no answer, and no error either.
    sent
      .on("upgrade", (_, socket) => socket.destroy())
      .on("error", reject)
      .on("close", unanswered)
      .end(body);
  });
}

/** The beginning of an answer's body; what comes too late, or not at all, is left out: its status has been told. */
function beginningOf(response: IncomingMessage): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = () => {
    resolve(textOf(Buffer.concat(chunks)));
    response.destroy();
  };
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= RESPONSE_BYTES) end();
  });
  for (const event of ["end", "error", "aborted", "close"]) response.on(event, end);
  return promise;
}

/** As a database can keep it: no broken characters, no NUL. */
function textOf(bytes: Buffer): string {
  const text = new TextDecoder().decode(bytes).replaceAll("\0", "\u{fffd}");
  return Array.from(text).slice(0, RESPONSE_CHARACTERS).join("");
}

function retryAfterOf(header: string | undefined): number | null {
  return header !== undefined && /^\d+$/.test(header) ? Math.min(Number(header), LONGEST_RETRY_AFTER) : null;
}

const failures: Readonly<Record<string, FailureReason>> = {
  ENOTFOUND: "dns",
  EAI_AGAIN: "dns",
  EAI_FAIL: "dns",
  EAI_NODATA: "dns",
  EAI_NONAME: "dns",
  ENODATA: "dns",
  ESERVFAIL: "dns",
  ECONNREFUSED: "connection_refused",
  ECONNRESET: "connection_reset",
  EPIPE: "connection_reset",
  ERR_SOCKET_CLOSED: "connection_reset",
  ETIMEDOUT: "timeout",
};
const tlsFailure = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;

function failureOf(error: unknown): FailureReason {
  if (error instanceof PrivateAddress) return "private_address";
  const { code } = error as { code?: unknown };
  const name = typeof code === "string" ? code.replace(/^DNS_/, "") : "";
  if (name.startsWith("HPE_")) return "invalid_response";
  return failures[name] ?? (tlsFailure.test(name) ? "tls" : "connection_failed");
}
