import { Redis, ReplyError } from "ioredis";

/** Slots in a row, and the primary that owns them. */
export interface Owned {
  readonly from: number;
  readonly to: number;
  readonly address: string;
}

/** What nodes that are to be called by their names say of one without. */
export const NO_NAME = "?";
/** A server answers so when it is none of a cluster, or lets nobody ask. */
const NO_CLUSTER = /cluster support disabled|unknown (command|subcommand)|^NOPERM/i;

/**
 * Who owns which slots, as one node knows it; null if it is no node of a cluster. Asked over a connection of its own: the
 * answer may be long, and a node that does not answer is no reason to do anything else.
 */
export async function ownersAt(url: string, withinMs: number): Promise<readonly Owned[] | null> {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: withinMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  const failed = Promise.withResolvers<never>();
  const late = setTimeout(() => failed.reject(new Error("no answer")), withinMs);
  redis.on("error", failed.reject);
  try {
    await Promise.race([redis.connect(), failed.promise]);
    const ranges = (await Promise.race([redis.cluster("SLOTS"), failed.promise])) as unknown as Range[];
    const asked = new URL(url).hostname;
    return ranges.map(([from, to, primary]) => {
      const host = hostOf(primary) || asked;
      return { from, to, address: addressOf(host, primary[1]) };
    });
  } catch (error) {
    if (error instanceof ReplyError && NO_CLUSTER.test((error as Error).message)) return null;
    throw error;
  } finally {
    clearTimeout(late);
    redis.disconnect();
  }
}

/** The first and the last slot, the primary, its replicas. */
type Range = [from: number, to: number, primary: Primary];
/** What else is known of it is names and values in turn. */
type Primary = [host: string | null, port: number, id: string, known?: readonly string[]];

/** Nothing for a node that is to be found where the other was asked; one that has no name yet has an address beside it. */
function hostOf([host, , , known = []]: Primary): string | null | undefined {
  return host === NO_NAME ? known[known.indexOf("ip") + 1] : host;
}

/** A host and a port as an address has them: IPv6 in brackets. */
export function addressOf(host: string, port: number | string): string {
  return `${/^[^[].*:/.test(host) ? `[${host}]` : host}:${port}`;
}

/** Another node by the same way: scheme, user and password are those of the cluster. */
export function urlAt(url: string, address: string): string {
  const at = new URL(url);
  at.host = address;
  return at.href;
}
