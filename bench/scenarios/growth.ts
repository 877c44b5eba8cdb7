import type { Bench, Scenario } from "../bench.ts";
import { petstore, startContender } from "../contenders.ts";
import type { Table } from "../figures.ts";
import { type Filling, PETS } from "../fill.ts";
import { addresses, orders, petsById } from "../requests.ts";
import { type Entry, interleaved } from "../rounds.ts";

const CONNECTIONS = [1, 8, 64, 256, 1000];
const petSizes = { whole: [1000, 100_000, 10_000_000], quick: [1000, 10_000, 100_000] };
/** The store without orders has those of the table before. */
const JUST_PLACED = "just placed";
const orderSizes = { whole: [0, 10_000_000], quick: [0, 100_000] };

/** What becomes of our figures as the store, its orders and the number of callers grow. */
export const growthScenarios: readonly Scenario[] = [
  {
    name: "pets",
    about: "growth of ours: 1 k, 100 k and 10 M pets",
    async run(bench) {
      const sizes = petSizes[bench.options.isQuick ? "quick" : "whole"];
      return grown(bench, "pets", "GET by id with this many pets", sizes, (size) => ({
        filling: { pets: size },
        script: (key) => petsById(key, size),
      }));
    },
  },
  {
    name: "orders",
    about: "growth of ours: none and 10 M orders",
    async run(bench) {
      const sizes = orderSizes[bench.options.isQuick ? "quick" : "whole"];
      const filling = (size: number) => ({ pets: PETS, orders: size });
      return [
        ...(await grown(bench, "orders", "POST of an order with this many before", sizes, (size) => ({
          filling: filling(size),
          script: (key) => orders(key, PETS),
        }))),
        ...(await grown(
          bench,
          "orders-list",
          "GET /store/orders, newest first, with this many",
          sizes,
          (size) => ({
            filling: filling(size),
            script: (key) => addresses(key, ["/store/orders?sort=-id"]),
            who: size === 0 ? JUST_PLACED : counted(size),
          }),
        )),
      ];
    },
  },
  {
    name: "connections",
    about: "growth of ours: 1 to 1,000 connections",
    async run(bench) {
      const store = bench.freshStore("connections");
      const server = await startContender(bench.servers, petstore, store.path);
      const script = petsById(store.key, PETS);
      const entries = CONNECTIONS.map((connections) => ({
        who: counted(connections),
        server,
        script,
        connections,
      }));
      const figures = await interleaved(bench, entries);
      await server.stop();
      return [table("connections", "GET by id over this many connections", figures)];
    },
  },
];

/** A count as it stands in a table and in an aim. */
export function counted(count: number): string {
  return count.toLocaleString("en");
}

async function grown(
  bench: Bench,
  name: string,
  title: string,
  sizes: readonly number[],
  of: (size: number) => { filling: Filling; script: (key: string) => string; who?: string },
): Promise<Table[]> {
  const entries: Entry[] = [];
  for (const size of sizes) {
    const { filling, script, who = counted(size) } = of(size);
    const store = bench.storeOf(filling);
    const server = await startContender(bench.servers, petstore, store.path);
    entries.push({ who, server, script: script(store.key) });
  }
  const figures = await interleaved(bench, entries);
  for (const { server } of entries) await server.stop();
  return [table(name, title, figures)];
}

function table(name: string, title: string, figures: Table["figures"]): Table {
  const [first] = figures;
  return { name, title, unit: "requests/s", wantsMore: true, against: first?.who ?? "", figures };
}
