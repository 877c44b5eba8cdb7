import { join } from "node:path";
import { aPostgres, type PostgresServer } from "../../test/servers/postgres.ts";
import { aValkey, type ValkeyServer } from "../../test/servers/valkey.ts";
import type { Bench, InLine, Scenario } from "../bench.ts";
import { check, checkStore } from "../check.ts";
import { type Contender, petstore, scaledFastify, scaledPetstore, startContender } from "../contenders.ts";
import type { Table } from "../figures.ts";
import { type Filled, PETS } from "../fill.ts";
import { pageAfter } from "../known.ts";
import { checkSyncsOf } from "../promises.ts";
import { addresses, mixed, orders, petsById } from "../requests.ts";
import { interleaved } from "../rounds.ts";
import type { Server } from "../servers.ts";
import { LOAD_CORE, load, OTHER_CORES, SERVER_CORE } from "../wrk.ts";

/** How long orders are placed before tables are analyzed. */
const USED_SECONDS = 4;

/** Spread over the first 10,000 pages, so that hardly two who ask in one turn ask for the same. */
const PAGES = 1000;
const PETS_BETWEEN = 200;

interface Question {
  readonly name: string;
  readonly title: string;
  readonly isWrite?: boolean;
  script(store: Filled): string;
}

const questions: readonly Question[] = [
  {
    name: "scaled-get",
    title: "Scaled: GET /store/pets/{id}, random ids of 250,000",
    script: ({ key }) => petsById(key, PETS),
  },
  {
    name: "scaled-list",
    title: "Scaled: GET /pets, 1,000 different pages of 20",
    script: ({ key }) =>
      addresses(
        key,
        Array.from({ length: PAGES }, (_, n) => pageAfter(n * PETS_BETWEEN)),
      ),
  },
  {
    name: "scaled-post",
    title: "Scaled: POST /store/orders, on disk before the answer",
    isWrite: true,
    script: ({ key }) => orders(key, PETS),
  },
  {
    name: "scaled-mixed",
    title: "Scaled: nine GETs by id for one POST of an order",
    isWrite: true,
    script: ({ key }) => mixed(key, PETS),
  },
];

export const scaledNames = questions.map(({ name }) => name);

export const scaledScenarios: readonly Scenario[] = [
  {
    name: "scaled",
    about: "reads, pages, orders and a mix on PostgreSQL and Redis, beside ours on SQLite",
    async run(bench) {
      const postgres = bench.keep(await aPostgres({ fsync: true, settings: { autovacuum: "on" } }));
      const valkey = bench.keep(await aValkey());
      const line = await lineUp(bench, postgres, valkey);
      const note = await whereThingsRun(postgres, valkey);
      const tables: Table[] = [];
      for (const question of questions) tables.push(await asked(bench, question, line, note));
      for (const { server } of line) await server.stop();
      return tables;
    },
  },
];

async function asked(
  bench: Bench,
  question: Question,
  line: readonly InLine[],
  note: string,
): Promise<Table> {
  const { name, title, isWrite } = question;
  const entries = line.map(({ contender, server, store }) => ({
    who: contender.name,
    server,
    script: question.script(store),
  }));
  const figures = await interleaved(bench, entries);
  if (isWrite) for (const { contender, store } of line) await checkStore(contender, store);
  return { name, title, unit: "requests/s", wantsMore: true, against: scaledPetstore.name, figures, note };
}

/** The same rows for each, in a database of its own; all of them checked. */
async function lineUp(bench: Bench, postgres: PostgresServer, valkey: ValkeyServer): Promise<InLine[]> {
  const embedded = bench.freshStore("scaled");
  const template = await postgres.newDatabase();
  await moved(embedded.path, postgres.url(template), bench.folder);
  await postgres.query("vacuum (freeze, analyze)", template);
  const keeper = await mainProcess(postgres);
  await keepOffTheServersCore(await processesOf(postgres, valkey));

  const line: InLine[] = [];
  const lined = async (contender: Contender, store: Filled) => {
    const server = await startContender(bench.servers, contender, store.path);
    await check(contender, server, store);
    line.push({ contender, server, store });
  };
  for (const each of [scaledPetstore, scaledFastify]) {
    const contender = { ...each, env: { ...each.env, REDIS_URL: valkey.url } };
    const store = { ...embedded, path: postgres.url(await postgres.newDatabase(template)) };
    await checkSyncsOf(keeper, contender, store, bench.folder);
    await lined(contender, store);
  }
  for (const { server, store } of line) await used(bench, postgres, server, store);
  await lined({ ...petstore, name: `${petstore.name}, SQLite` }, embedded);
  // What filled the databases is on disk before anything is timed.
  await postgres.query("checkpoint");
  return line;
}

/**
 * Makes it a shop in which orders were placed, whose tables PostgreSQL knows: plans that were made while a table was empty
 * read all of it until autovacuum comes by.
 */
async function used(bench: Bench, postgres: PostgresServer, server: Server, store: Filled): Promise<void> {
  const { folder, options } = bench;
  const script = orders(store.key, PETS);
  await load({
    folder,
    url: server.url,
    script,
    connections: options.pace.connections,
    seconds: USED_SECONDS,
  });
  await postgres.query("analyze", new URL(store.path).pathname.slice(1));
}

/** Fills a database from a store as an operator would: all of it, and proven to be whole. */
async function moved(from: string, to: string, folder: string): Promise<void> {
  const file = join(folder, "moved.ndjson");
  for (const words of [
    ["export", file, "--database-url", from],
    ["import", file, "--database-url", to],
  ]) {
    const command = Bun.spawn([join(import.meta.dir, "../../petstore"), ...words], {
      stdout: "ignore",
      stderr: "pipe",
    });
    const said = await new Response(command.stderr).text();
    if ((await command.exited) !== 0) throw new Error(`petstore ${words[0]} failed: ${said}`);
  }
}

/** The process that all others of PostgreSQL come from. */
async function mainProcess(postgres: PostgresServer): Promise<number> {
  const [row] = await postgres.query("select pg_read_file('postmaster.pid') as note");
  return Number.parseInt(row?.note as string, 10);
}

async function processesOf(postgres: PostgresServer, valkey: ValkeyServer): Promise<number[]> {
  const rows = await postgres.query("select pid from pg_stat_activity");
  return [
    await mainProcess(postgres),
    ...rows.map(({ pid }) => Number(pid)),
    Number(/process_id:(\d+)/.exec(await valkey.client().info("server"))?.[1]),
  ];
}

/** What they start later stays where they are. */
async function keepOffTheServersCore(processes: readonly number[]): Promise<void> {
  for (const pid of processes) {
    const { exitCode } = Bun.spawnSync(["taskset", "-a", "-c", "-p", OTHER_CORES, String(pid)]);
    // A connection that only asked has ended meanwhile.
    if (exitCode !== 0 && pid === processes[0]) throw new Error("PostgreSQL could not be moved to its core.");
  }
}

async function whereThingsRun(postgres: PostgresServer, valkey: ValkeyServer): Promise<string> {
  const [settings] = await postgres.query(
    "select split_part(current_setting('server_version'), ' ', 1) as version, current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit",
  );
  const about = await valkey.client().info("server");
  // Valkey names the Redis that it is compatible with, too.
  const [, name, version] = /(valkey)_version:(\S+)/.exec(about) ?? /(redis)_version:(\S+)/.exec(about) ?? [];
  const others = OTHER_CORES === LOAD_CORE ? `core ${OTHER_CORES}, with wrk` : `cores ${OTHER_CORES}`;
  return `The server is alone on core ${SERVER_CORE}; PostgreSQL ${settings?.version} (fsync ${settings?.fsync}, synchronous_commit ${settings?.commit}) and ${name === "valkey" ? "Valkey" : "Redis"} ${version} run on ${others}. The processor's time is that of the server alone.`;
}
