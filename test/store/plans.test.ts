import { afterAll, expect, test } from "bun:test";
import type { PetQuery, Reads } from "../../src/core/ports.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import type { Db, Statement } from "../../src/store/statement.ts";
import { reads } from "../../src/store/store.ts";
import { aFolder } from "../cli/command.ts";
import { anId, categoryLists, eventLists, orderLists, petLists } from "./lists.ts";

// A page may read only about as many rows as it shows. SQLite's plan tells: SEARCH walks a range of an index
// that is already in the order of the page; SCAN of a table is harmless only in the order of its own key and
// with nothing left out on the way; a TEMP B-TREE sorts, which is harmless only over rows that are counted
// beforehand: the merged branches (each ends at the limit) and the pets of at most a hundred given ids.

const folder = aFolder();
const store = openStore(folder.database, 0);
afterAll(() => {
  store.close();
  folder[Symbol.dispose]();
});

interface Explained {
  readonly sql: string;
  readonly plan: readonly string[];
}

/** The plans of the statements that a question to the store runs. */
async function explained(ask: (reads: Reads) => unknown): Promise<Explained[]> {
  const seen: Explained[] = [];
  const note = ({ text }: Statement) => {
    const plan = store.db.rows(`explain query plan ${text}`).map(({ detail }) => String(detail));
    seen.push({ sql: text, plan });
  };
  const db: Db = {
    get: (statement) => {
      note(statement);
      return null;
    },
    all: (statement) => {
      note(statement);
      return [];
    },
    run: note,
  };
  await ask(reads(db));
  return seen;
}

test("every list of pets and of stock walks an index, whatever the filter and the order", async () => {
  const lists = petLists();
  expect(lists.length).toBeGreaterThan(100);
  const found = [];
  for (const query of lists) found.push(...(await faults(query, (asked) => asked.pets(query))));
  expect(found).toEqual([]);
});

test("a list of a category's pets reads no pet of another category on its way", async () => {
  const found = [];
  for (const statuses of [undefined, ["available"]] as const)
    for (const sort of ["id", "name"] as const)
      for (const namePrefix of sort === "name" ? [undefined, "re"] : [undefined]) {
        const query: PetQuery = { sort, descending: false, statuses, categoryId: 3, namePrefix, limit: 21 };
        for (const { plan } of await explained((asked) => asked.pets(query)))
          for (const line of plan.filter((each) => each.startsWith("SEARCH")))
            if (!line.includes("category_id=?")) found.push(`${JSON.stringify(query)}: ${line}`);
      }
  expect(found).toEqual([]);
});

test("a list of given pets goes to these, whatever else is asked of them", async () => {
  for (const length of [1, 10, 11, 100]) {
    const ids = Array.from({ length }, (_, n) => n + 1);
    const query: PetQuery = {
      ...{ sort: "name", descending: false, ids, statuses: ["available"], limit: 21 },
      ...{ categoryId: 3, namePrefix: "re" },
    };
    const [{ plan } = { plan: [] }] = await explained((asked) => asked.pets(query));
    expect(plan.join()).toContain("USING INTEGER PRIMARY KEY");
  }
});

test("every list of categories walks an index", async () => {
  for (const query of categoryLists())
    expect(await faults(query, (asked) => asked.categories(query))).toEqual([]);
});

test("every list of orders walks an index, whatever the filter and the order", async () => {
  const found = [];
  for (const query of orderLists()) found.push(...(await faults(query, (asked) => asked.orders(query))));
  expect(found).toEqual([]);
});

test("every list of events walks an index, whoever asks and whatever the filter", async () => {
  const found = [];
  for (const query of eventLists()) found.push(...(await faults(query, (asked) => asked.events(query))));
  expect(found).toEqual([]);
});

test("the first event of a time is found by looking at few", async () => {
  const [search] = await explained((asked) => asked.lastEventBefore(5, 1000));
  expect(search?.plan.filter((line) => line.includes("events"))).toEqual([
    "SEARCH events USING INTEGER PRIMARY KEY (rowid>?)",
  ]);
});

test("the ledger of a pet is followed from one movement to the one before, by their numbers", async () => {
  for (const after of [undefined, anId]) {
    const [asked] = await explained((reads) => reads.movements({ petId: 7, limit: 21, after }));
    const steps = asked?.plan.filter((line) => /^(SCAN|SEARCH)/.test(line)) ?? [];
    expect(steps.filter((line) => line === "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)")).toHaveLength(2);
    // What was found so far is at most the page.
    const others = steps.filter((line) => line !== "SCAN ledger" && !line.endsWith("PRIMARY KEY (rowid=?)"));
    expect(others).toEqual([]);
  }
});

test("every list of a client's keys walks an index", async () => {
  for (const after of [undefined, anId])
    for (const ofRoles of [["customer"], ["customer", "staff", "admin"]] as const) {
      const query = { clientId: 7, roles: ofRoles, descending: false, limit: 21, after };
      // Tallies are few and read whole, before the keys.
      const [, keys] = await explained((asked) => asked.keyPage(query));
      expect(keys?.sql).toContain("from api_keys");
      expect(keys?.plan.filter((line) => /^SCAN|TEMP B-TREE/.test(line))).toEqual([]);
    }
});

test("every list of bans in force and of the audit trail walks an index", async () => {
  const found = [];
  for (const after of [undefined, anId]) {
    const up = { descending: false, limit: 21, after };
    const down = { ...up, descending: true };
    found.push(...(await faults(up, (asked) => asked.bans(up, 1))));
    found.push(...(await faults(down, (asked) => asked.audit(down))));
  }
  expect(found).toEqual([]);
});

test("every list of webhooks and of deliveries walks an index, and what is due is found by one", async () => {
  const found = [];
  for (const after of [undefined, anId]) {
    const page = { limit: 21, after };
    const webhooks = { ...page, clientId: 7, roles: ["customer", "staff"], descending: false } as const;
    found.push(...(await faults(webhooks, (asked) => asked.webhooks(webhooks))));
    for (const state of [undefined, "failed"] as const) {
      const deliveries = { ...page, webhookId: 7, state, descending: true } as const;
      found.push(...(await faults(deliveries, (asked) => asked.deliveries(deliveries))));
    }
  }
  expect(found).toEqual([]);
  const [due] = await explained((asked) => asked.dueWebhooks(1, 0, 50));
  expect(due?.plan.filter((line) => /^SCAN|TEMP B-TREE/.test(line))).toEqual([]);
  expect(due?.plan.join()).toContain("webhook_deliveries_due");
});

test("a list of all clients' webhooks walks the table, or an index that has only those that it shows", async () => {
  const walked: string[] = [];
  for (const clientId of [undefined, 7])
    for (const enabled of [undefined, true, false])
      for (const after of [undefined, anId]) {
        const query = { clientId, enabled, after, descending: false, limit: 21 } as const;
        const [list] = await explained((asked) => asked.webhooks(query));
        expect(list?.plan.join()).not.toContain("TEMP B-TREE");
        walked.push(list?.plan[0] ?? "");
      }
  const ofAClient = ["(client_id=?)", "(client_id=? AND id>?)"].map(
    (range) => `SEARCH w USING INDEX webhooks_client ${range}`,
  );
  expect(walked).toEqual([
    "SCAN w",
    "SEARCH w USING INTEGER PRIMARY KEY (rowid>?)",
    "SCAN w USING INDEX webhooks_list_enabled",
    "SEARCH w USING INDEX webhooks_list_enabled (id>?)",
    "SCAN w USING INDEX webhooks_list_disabled",
    "SEARCH w USING INDEX webhooks_list_disabled (id>?)",
    ...ofAClient,
    ...ofAClient,
    ...ofAClient,
  ]);
});

test("that no webhook has anything to do is found by the ends of two indexes, and whether a replay waits by a third", async () => {
  const [state] = await explained((asked) => asked.fanOut());
  const steps = state?.plan.filter((line) => !line.includes("SCALAR SUBQUERY"));
  expect(steps).toHaveLength(4);
  for (const line of steps ?? [])
    expect(line).toMatch(/^SEARCH \w USING ((COVERING )?INDEX webhook(s|_deliveries)_|INTEGER PRIMARY KEY)/);
});

test("what waits for webhooks is found by short looks at indexes, and no table is read", async () => {
  const [backlog] = await explained((asked) => asked.deliveryBacklog(1));
  const steps = backlog?.plan.filter((line) => /^(SCAN|SEARCH)/.test(line)) ?? [];
  expect(steps.filter((line) => / d /.test(line)).length).toBeGreaterThan(1);
  for (const line of steps)
    expect(line).toMatch(
      / d USING COVERING INDEX webhook_deliveries_due|^SEARCH [ck] | w USING INDEX webhooks_| counted$/,
    );
});

test("every look-up of one record goes straight to it", async () => {
  const asks: ((asked: Reads) => unknown)[] = [
    (asked) => asked.pet(1),
    (asked) => asked.petWithCategory(1),
    (asked) => asked.category(1),
    (asked) => asked.order(1),
    (asked) => asked.keyByHash("a"),
    (asked) => asked.session("a"),
    (asked) => asked.keptAnswer(1, "k", 0),
    (asked) => asked.client(1),
    (asked) => asked.key(1),
    (asked) => asked.keys(1),
    (asked) => asked.conduct(1),
    (asked) => asked.conducts(1),
    (asked) => asked.ban(1, 2),
    (asked) => asked.clientBan(1, 2),
    (asked) => asked.countWorkingKeys(1, 2),
    (asked) => asked.accessRevision(),
    (asked) => asked.webhook(1),
    (asked) => asked.countWebhooks(1),
    (asked) => asked.delivery(1),
    (asked) => asked.usage({ clientId: 1, fromDay: 1, toDay: 2 }),
    (asked) => asked.usageOfDay(1),
  ];
  for (const ask of asks)
    for (const { sql, plan } of await explained(ask)) {
      // Tallies are few and read whole.
      const steps = plan.filter(
        (line) =>
          !/^(CORRELATED SCALAR SUBQUERY \d+|COMPOUND QUERY|LEFT-MOST SUBQUERY|UNION ALL|SCAN tallies.*|USE TEMP B-TREE.*)$/.test(
            line,
          ),
      );
      const searches = steps.filter((line) => /^SEARCH \w+ USING .*([=<>]\?)/.test(line));
      expect({ sql, plan: searches }).toEqual({ sql, plan: steps });
    }
});

test("whether there are keys is told by the first one, without what else is known of it", async () => {
  const asked = await explained((reads) => reads.hasKeys());
  expect(asked.map(({ plan }) => plan)).toEqual([[expect.stringMatching(/^SCAN api_keys/)]]);
  expect(asked[0]?.sql).toEndWith(" limit 1");
});

/** What is wrong with the plan of a list; nothing, if its page costs no more than its rows. */
async function faults(query: object, ask: (asked: Reads) => unknown): Promise<string[]> {
  const [statement, ...more] = await explained(ask);
  expect(more).toEqual([]);
  const { sql, plan } = statement as Explained;
  return plan
    .filter((line, index) => isFault(line, plan[index - 1] ?? "", sql))
    .map((line) => `${JSON.stringify(query)}: ${line} in ${plan.join("; ")}`);
}

function isFault(line: string, before: string, sql: string): boolean {
  // The branches of a merge end at the limit, so going through them or sorting them costs a page each.
  const isBranch = (text: string) => /^SCAN (branch|merged)$/.test(text);
  if (isBranch(line)) return false;
  if (line.startsWith("SCAN")) return / where /.test(sql) || !/ order by id (asc|desc) limit/.test(sql);
  if (line.startsWith("USE TEMP B-TREE")) return !isBranch(before) && !/ id in \(/.test(sql);
  return false;
}

test("however a list is asked for, it has few texts: many ids, repeated statuses and all filters", async () => {
  using folder = aFolder();
  const { db, close } = openStore(folder.database, 1);
  const texts = new Set<string>();
  const asked = reads({
    ...db,
    all: (statement, args) => {
      texts.add(statement.text);
      return db.all(statement, args);
    },
  });
  const statuses = ["available", "sold", "sold", "available", "pending"] as const;
  for (let length = 1; length <= 100; length++) {
    const ids = Array.from({ length }, (_, n) => n + 1);
    for (const repeated of [1, 2, 5]) {
      const query = { descending: false, ids, statuses: statuses.slice(0, repeated), limit: 21 };
      await asked.pets({ ...query, sort: "id" });
      await asked.pets({ ...query, sort: "name", namePrefix: "r", categoryId: 1 });
    }
  }
  expect(texts.size).toBeLessThanOrEqual(3 * 3 * 2);
  close();
});
