import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check } from "./check.ts";
import { type Contender, everyone, startContender } from "./contenders.ts";
import type { Missing, Table, Taken } from "./figures.ts";
import { copied, type Filled, type Filling, filled, PETS } from "./fill.ts";
import type { Options } from "./options.ts";
import { checkLog, checkSyncs } from "./promises.ts";
import { type Server, type Servers, servers } from "./servers.ts";
import { patience, type Undisturbed } from "./undisturbed.ts";

/** Longer than any of them takes, without the patience that all before it may have left: what is not done by then hangs. */
const SCENARIO_MS = 15 * 60_000;
/** More than a run has. */
const TABLES = 25;

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

interface Line {
  readonly all: readonly InLine[];
  readonly absent: readonly Missing[];
}

/** What a scenario has: its files, servers and whatever else it keeps end with it, however it ends. */
export interface Bench {
  readonly options: Options;
  readonly folder: string;
  readonly servers: Servers;
  /** A store of this size for servers of ours, one after another; made once, because millions of rows take minutes. */
  storeOf(filling: Filling): Filled;
  /** A copy of the store that everyone is compared on. */
  freshStore(name: string): Filled;
  /** For the rounds of one table. */
  undisturbed(): Undisturbed;
  /** Ends it with the scenario. */
  keep<T extends AsyncDisposable>(resource: T): T;
  /** Every contender, running on a copy of the same store and checked; started once. */
  lineUp(): Promise<readonly InLine[]>;
}

/** What scenarios of one run share. */
export interface Benches extends AsyncDisposable {
  /** What a scenario gives; if it fails, no table, and the reason. */
  taken(scenario: Scenario): Promise<Taken>;
}

export function benches(options: Options): Benches {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  // At the very end: a load that is cut short may still write into it.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const kept = new AsyncDisposableStack();
  const shared = kept.use(servers());
  const undisturbed = patience(options.pace.patienceSeconds);

  let base: Filled | undefined;
  const copyInto = (place: string) => (name: string) => {
    base ??= filled(join(folder, "base.db"), { pets: PETS });
    return copied(base, join(place, `${name}.db`));
  };
  const inLine = async (contender: Contender): Promise<InLine> => {
    const freshStore = copyInto(folder);
    const store = freshStore(contender.name);
    await checkSyncs(contender, freshStore(`${contender.name}-syncs`), folder);
    if (contender.isOurs || contender.isDutiful)
      await checkLog(contender, freshStore(`${contender.name}-log`), folder);
    const server = await startContender(shared, contender, store.path);
    await check(contender, server, store);
    return { contender, server, store };
  };
  let line: Promise<Line> | undefined;
  /** A peer that fails its check is not timed; ours has to pass. */
  const lineUp = async (): Promise<Line> => {
    const all: InLine[] = [];
    const absent: Missing[] = [];
    for (const contender of everyone) {
      try {
        all.push(await inLine(contender));
      } catch (error) {
        if (contender.isOurs) throw error;
        absent.push({ what: contender.name, reason: (error as Error).message });
      }
    }
    return { all, absent };
  };

  const during = async ({ name, run }: Scenario): Promise<Omit<Taken, "seconds">> => {
    const place = join(folder, `${name}-scenario`);
    mkdirSync(place);
    await using own = new AsyncDisposableStack();
    own.defer(() => rmSync(place, { recursive: true, force: true }));
    kept.defer(() => own.disposeAsync());
    // Servers end before what they depend on.
    const resources = own.use(new AsyncDisposableStack());
    const stores = new Map<string, Filled>();
    let missing: readonly Missing[] = [];
    const tables = await withinTime(
      run({
        options,
        folder: place,
        servers: own.use(servers()),
        storeOf(filling) {
          const size = `${filling.pets}-${filling.orders ?? 0}`;
          const store = stores.get(size) ?? filled(join(place, `${size}.db`), filling);
          stores.set(size, store);
          return store;
        },
        freshStore: copyInto(place),
        undisturbed,
        keep: (resource) => resources.use(resource),
        async lineUp() {
          line ??= lineUp();
          const { all, absent } = await line;
          missing = absent;
          return all;
        },
      }),
      SCENARIO_MS + TABLES * options.pace.patienceSeconds * 1000,
    );
    return { tables, missing };
  };
  return {
    async taken(scenario) {
      const from = performance.now();
      const given = await during(scenario).catch((error: Error) => ({
        tables: [],
        missing: [{ what: scenario.name, reason: error.message }],
      }));
      return { ...given, seconds: (performance.now() - from) / 1000 };
    },
    async [Symbol.asyncDispose]() {
      await kept.disposeAsync();
    },
  };
}

async function withinTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const minutes = Math.round(milliseconds / 60_000);
  const timer = setTimeout(
    () => late.reject(new Error(`It was not done after ${minutes} minutes.`)),
    milliseconds,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
