import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, checkSyncs } from "./check.ts";
import { type Contender, contenders, dutifulPeers, startContender } from "./contenders.ts";
import type { Table } from "./figures.ts";
import { copied, type Filled, type Filling, filled, PETS } from "./fill.ts";
import type { Options } from "./options.ts";
import { type Server, type Servers, servers } from "./servers.ts";

/** A named question, answered by tables of figures. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  run(bench: Bench): Promise<Table[]>;
}

export interface InLine {
  readonly contender: Contender;
  readonly server: Server;
  readonly store: Filled;
}

/** What scenarios share within one run. */
export interface Bench extends AsyncDisposable {
  readonly options: Options;
  readonly folder: string;
  readonly servers: Servers;
  /** A store of this size for servers of ours, one after another; made once, because millions of rows take minutes. */
  storeOf(filling: Filling): Filled;
  /** A copy of the store that everyone is compared on. */
  freshStore(name: string): Filled;
  /** Ends it with the bench, however that ends. */
  keep<T extends AsyncDisposable>(resource: T): T;
  /** Every contender, running on a copy of the same store and checked; started once. */
  lineUp(): Promise<readonly InLine[]>;
}

export function aBench(options: Options): Bench {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  // At the very end: a load that is cut short may still write into it.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const kept = new AsyncDisposableStack();
  const running = servers();
  const stores = new Map<string, Filled>();
  let line: Promise<readonly InLine[]> | undefined;

  const storeOf = (filling: Filling) => {
    const name = `${filling.pets}-${filling.orders ?? 0}`;
    const store = stores.get(name) ?? filled(join(folder, `${name}.db`), filling);
    stores.set(name, store);
    return store;
  };
  let base: Filled | undefined;
  const freshStore = (name: string) => {
    base ??= filled(join(folder, "base.db"), { pets: PETS });
    return copied(base, join(folder, `${name}.db`));
  };
  const lineUp = async () => {
    const all: InLine[] = [];
    for (const contender of [...contenders, ...dutifulPeers]) {
      const store = freshStore(contender.name);
      const server = await startContender(running, contender, store.path);
      await check(contender, server, store);
      await checkSyncs(contender, freshStore(`${contender.name}-syncs`), folder);
      all.push({ contender, server, store });
    }
    return all;
  };
  return {
    options,
    folder,
    servers: running,
    storeOf,
    freshStore,
    keep: (resource) => kept.use(resource),
    lineUp: () => {
      line ??= lineUp();
      return line;
    },
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await kept.disposeAsync();
    },
  };
}
