import type { Bench, InLine, Scenario } from "../bench.ts";
import { checkStore } from "../check.ts";
import { bareBun, bareNginx, constantOf } from "../contenders.ts";
import { OURS, type Table } from "../figures.ts";
import { type Filled, PETS } from "../fill.ts";
import { pageAfter, unknownKeys } from "../known.ts";
import { addresses, keyLines, mixed, orders, petsById, petsByManyKeys } from "../requests.ts";
import { type Entry, interleaved } from "../rounds.ts";

const PAGE = 20;
const FAR_PAGE = 10_000;
const DIFFERENT = 1000;

export const FLOOR = "bare Bun.serve";
/** The same without a handler: Bun answers by itself, and runs no code for a request. */
export const STATIC_FLOOR = "Bun.serve, static route";
export const NGINX = "nginx, constant";

interface Question {
  readonly name: string;
  readonly title: string;
  readonly expects?: Entry["expects"];
  readonly isWrite?: boolean;
  /** Which answer of ours the floors repeat; without one there are no floors. */
  readonly floor?: (store: Filled) => { readonly path: string; readonly key: string };
  /** What else ours is asked in the same rounds, because an aim compares the two. */
  readonly beside?: { readonly who: string; script(store: Filled): string };
  script(store: Filled, folder: string): Promise<string> | string;
}

export const OUR_GET = `${OURS}, GET by id`;
export const OUR_FIRST_PAGE = `${OURS}, page 1`;
const ourGet = { who: OUR_GET, script: ({ key }: Filled) => petsById(key, PETS) };

const aPet = (key: string) => ({ path: "/store/pets/1", key });

const questions: readonly Question[] = [
  {
    name: "get",
    title: "GET /store/pets/{id}, random ids of 250,000",
    floor: ({ key }) => aPet(key),
    script: ({ key }) => petsById(key, PETS),
  },
  {
    name: "list",
    title: "GET /pets, page 1 of 20",
    script: ({ key }) => addresses(key, ["/pets"]),
  },
  {
    name: "list-far",
    title: "GET /pets, about page 10,000",
    beside: { who: OUR_FIRST_PAGE, script: ({ key }) => addresses(key, ["/pets"]) },
    script: ({ key }) =>
      addresses(
        key,
        Array.from({ length: DIFFERENT }, (_, n) => pageAfter((FAR_PAGE - 1) * PAGE + n)),
      ),
  },
  {
    name: "filter",
    title: "GET /pets?status=available&name=<prefix>",
    script: ({ key }) =>
      addresses(
        key,
        Array.from({ length: DIFFERENT }, (_, n) => `/pets?status=available&name=pet%20${100 + (n % 900)}`),
      ),
  },
  {
    name: "post",
    title: "POST /store/orders, on disk before the answer",
    isWrite: true,
    script: ({ key }) => orders(key, PETS),
  },
  {
    name: "mixed",
    title: "nine GETs by id for one POST of an order",
    isWrite: true,
    script: ({ key }) => mixed(key, PETS),
  },
  {
    name: "429",
    title: "429: the key's minute is spent",
    expects: "refusals",
    beside: ourGet,
    floor: ({ spentKey }) => aPet(spentKey),
    script: ({ spentKey }) => petsById(spentKey, PETS),
  },
  {
    name: "401",
    title: "401: well-formed keys that nobody has",
    expects: "refusals",
    beside: ourGet,
    floor: () => aPet(unknownKeys(1)[0] as string),
    async script(_store, folder) {
      const file = `${folder}/unknown.keys`;
      await Bun.write(file, keyLines(unknownKeys(DIFFERENT)));
      return petsByManyKeys(file, PETS);
    },
  },
];

export const requestNames = questions.map(({ name }) => name);

export const requestScenarios: readonly Scenario[] = questions.map((question) => ({
  name: question.name,
  about: question.title,
  run: async (bench) => [await asked(bench, question)],
}));

async function asked(bench: Bench, question: Question): Promise<Table> {
  const { name, title, expects = "successes" } = question;
  const line = await bench.lineUp();
  const entries: Entry[] = [];
  for (const { contender, server, store } of line) {
    const script = await question.script(store, bench.folder);
    entries.push({ who: contender.name, server, script, expects });
  }
  const ours = line.find(({ contender }) => contender.name === OURS) as InLine;
  const { beside } = question;
  if (beside) entries.push({ who: beside.who, server: ours.server, script: beside.script(ours.store) });
  const floors = await startFloors(bench, question, ours);
  for (const { who, server } of floors)
    entries.push({ who, server, script: (entries[0] as Entry).script, expects });
  const figures = await interleaved(bench, entries);
  for (const { server } of floors) await server.stop();
  if (question.isWrite) for (const { contender, store } of line) await checkStore(contender, store);
  return { name, title, unit: "requests/s", wantsMore: true, against: OURS, figures };
}

async function startFloors(bench: Bench, { floor }: Question, { server, store }: InLine) {
  if (!floor) return [];
  const { path, key } = floor(store);
  const ask = () => fetch(server.url + path, { headers: { "x-api-key": key } });
  // The second answer: a key with one request a minute has spent it with the first.
  await (await ask()).arrayBuffer();
  const constant = await constantOf(await ask());
  const [bun, staticRoute, nginx] = await Promise.all([
    bareBun(bench.servers, "handler", constant),
    bareBun(bench.servers, "static", constant),
    bareNginx(bench.servers, bench.folder, constant),
  ]);
  return [
    { who: FLOOR, server: bun },
    { who: STATIC_FLOOR, server: staticRoute },
    { who: NGINX, server: nginx },
  ];
}
