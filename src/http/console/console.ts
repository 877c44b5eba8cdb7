import type { KnownKey } from "../../core/ports.ts";
import type { TrustedProxies } from "../address.ts";
import type { Sessions } from "../caller.ts";
import type { Path } from "../endpoint.ts";
import type { Store } from "../operate.ts";
import { signedIn } from "./sessions.ts";
import { signInPath } from "./sign-in.ts";

export interface ConsoleOptions {
  /** Where the files of the page are. */
  readonly folder: URL;
  readonly trustProxy: TrustedProxies;
  readonly store: Store;
  readonly introduce: (known: KnownKey, askedAt: number) => void;
  readonly keyWasUsed: (keyId: number, at: number) => void;
}

/** What the server has for the console: who is signed in, where that is done, and the page. */
export interface Console {
  readonly sessions: Sessions;
  readonly paths: readonly Path[];
  readonly folder: URL;
}

export function openConsole(options: ConsoleOptions): Console {
  const { folder, trustProxy, store, introduce, keyWasUsed } = options;
  const sessions = signedIn({
    trustProxy,
    store,
    introduce,
    wasUsed: (hash, keyId, now) => {
      keyWasUsed(keyId, now);
      // A session whose use could not be noted is left alone a minute earlier.
      useNoted(store, hash, now).catch(() => {});
    },
  });
  return { sessions, folder, paths: [signInPath({ trustProxy, forgetSessions: sessions.forget })] };
}

async function useNoted(store: Store, hash: string, now: number): Promise<void> {
  const caller = { clientId: 0, keyId: 0, role: "admin" } as const;
  await store.perform({ operation: "sessions.use", caller, input: { hash }, now });
}
