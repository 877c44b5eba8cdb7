import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { PetStatus } from "../../src/contract/shapes.ts";
import type { PetRecord } from "../../src/core/ports.ts";
import {
  isPossible,
  newStock,
  type Stock,
  setStatus,
  statusBefore,
  stockAfter,
} from "../../src/core/status.ts";
import { aStore, type TestStore } from "../harness.ts";

// A state is written as its status, what is in stock and how many orders are open: P0/1 is pending with
// nothing in stock and one order open. A pending pet with stock is held.
const letters: Readonly<Record<string, PetStatus>> = { A: "available", P: "pending", S: "sold" };

/** What orders do: units and open orders added. `no` is refused, `.` cannot happen without an open order. */
const moves: Readonly<Record<string, readonly [units: number, openOrders: number]>> = {
  "order 1": [-1, 1],
  "order 2": [-2, 1],
  "sell 1": [-1, 0],
  "1 less": [1, 0],
  complete: [0, -1],
  "cancel 1": [1, -1],
  "1 more, complete": [-1, -1],
};
const byOrders = `
  state | order 1 | order 2 | sell 1 | 1 less | complete | cancel 1 | 1 more, complete
  A1/0  | P0/1    | no      | S0/0   | .      | .        | .        | .
  A2/0  | A1/1    | P0/1    | A1/0   | .      | .        | .        | .
  A3/0  | A2/1    | A1/1    | A2/0   | .      | .        | .        | .
  A1/1  | P0/2    | no      | P0/1   | A2/1   | A1/0     | A2/0     | S0/0
  A2/1  | A1/2    | P0/2    | A1/1   | A3/1   | A2/0     | A3/0     | A1/0
  A1/2  | P0/3    | no      | P0/2   | A2/2   | A1/1     | A2/1     | P0/1
  P0/1  | no      | no      | no     | A1/1   | S0/0     | A1/0     | no
  P0/2  | no      | no      | no     | A1/2   | P0/1     | A1/1     | no
  P1/0  | no      | no      | no     | .      | .        | .        | .
  P1/1  | no      | no      | no     | P2/1   | P1/0     | P2/0     | no
  P2/2  | no      | no      | no     | P3/2   | P2/1     | P3/1     | no
  S0/0  | no      | no      | no     | .      | .        | .        | .`;

/** What PUT /store/inventory/{petId} does. */
const byRestock = `
  state | 0    | 1    | 2    | 3
  A1/0  | S0/0 | A1/0 | A2/0 | A3/0
  A2/0  | S0/0 | A1/0 | A2/0 | A3/0
  A1/1  | P0/1 | A1/1 | A2/1 | A3/1
  A2/2  | P0/2 | A1/2 | A2/2 | A3/2
  P0/1  | P0/1 | A1/1 | A2/1 | A3/1
  P0/2  | P0/2 | A1/2 | A2/2 | A3/2
  P1/0  | S0/0 | P1/0 | P2/0 | P3/0
  P2/0  | S0/0 | P1/0 | P2/0 | P3/0
  P1/1  | P0/1 | P1/1 | P2/1 | P3/1
  P2/2  | P0/2 | P1/2 | P2/2 | P3/2
  S0/0  | S0/0 | A1/0 | A2/0 | A3/0`;

/** What staff do with PUT and PATCH /pets/{petId}. */
const byStaff = `
  state | available                 | pending | sold
  A1/0  | A1/0                      | P1/0    | S0/0
  A2/0  | A2/0                      | P2/0    | S0/0
  A1/1  | A1/1                      | P1/1    | pet_has_open_orders
  A2/2  | A2/2                      | P2/2    | pet_has_open_orders
  P0/1  | invalid_status_transition | P0/1    | pet_has_open_orders
  P0/2  | invalid_status_transition | P0/2    | pet_has_open_orders
  P1/0  | A1/0                      | P1/0    | S0/0
  P3/0  | A3/0                      | P3/0    | S0/0
  P1/1  | A1/1                      | P1/1    | pet_has_open_orders
  P2/2  | A2/2                      | P2/2    | pet_has_open_orders
  S0/0  | A1/0                      | P1/0    | S0/0`;

describe("an order moves a pet's stock and status", () => {
  test.each(cells(byOrders).filter(({ to }) => to !== "no" && to !== "."))(
    "$from, $event: $to",
    ({ from, event, to }) => {
      const before = stateOf(from);
      const [units, openOrders] = moves[event]!;
      const after = stockAfter(before, before.quantity + units, before.openOrders + openOrders);
      expect(after).toEqual(stateOf(to));
      expect(statusBefore(after, units, openOrders)).toBe(before.status);
    },
  );
});

test.each(cells(byRestock))("stock set: $from, $event: $to", ({ from, event, to }) => {
  const before = stateOf(from);
  expect(stockAfter(before, Number(event), before.openOrders)).toEqual(stateOf(to));
});

test.each(cells(byStaff))("status set by staff: $from, $event: $to", ({ from, event, to }) => {
  expect(setStatus(stateOf(from), event as PetStatus)).toEqual(
    /^[APS]\d/.test(to) ? stateOf(to) : (to as never),
  );
});

test("a new pet has its units, unless it is created sold", () => {
  expect(newStock("available", 1)).toEqual(stateOf("A1/0"));
  expect(newStock("available", 3)).toEqual(stateOf("A3/0"));
  expect(newStock("pending", 3)).toEqual(stateOf("P3/0"));
  expect(newStock("sold", 3)).toEqual(stateOf("S0/0"));
});

describe("the database and the rule agree", () => {
  let store: TestStore;
  let petId: number;
  beforeAll(async () => {
    store = await aStore();
    petId = (await store.aPet()).id;
  });
  afterAll(() => store.stop());

  const put = async ({ status, quantity, openOrders }: Stock) =>
    await store.beside.db.exec(
      `update pets set status = '${status}', quantity = ${quantity}, open_orders = ${openOrders} where id = ${petId}`,
    );

  test("on the states that a pet can be in", async () => {
    const possible = everyState(-1, 2).filter(isPossible).map(shown);
    expect(possible).toEqual(
      ["A1/0", "A1/1", "A1/2", "A2/0", "A2/1", "A2/2"]
        .concat(["P0/1", "P0/2", "P1/0", "P1/1", "P1/2", "P2/0", "P2/1", "P2/2"])
        .concat("S0/0"),
    );
    for (const state of everyState(-1, 2)) {
      if (isPossible(state)) await put(state);
      else await expect(put(state)).rejects.toThrow("CHECK constraint failed");
    }
  });

  test("on what every order does", async () => {
    await store.beside.transact(async (writes) => {
      for (const { from, event, to } of cells(byOrders)) {
        if (to === ".") continue;
        await put(stateOf(from));
        const [units, openOrders] = moves[event]!;
        const after = await writes.moveStock({ petId, units, openOrders, reason: "changed", orderId: 1 }, 0);
        expect(`${from}, ${event}: ${after ? shown(after) : "no"}`).toBe(`${from}, ${event}: ${to}`);
      }
    });
  });

  test("on every move from every small state", async () => {
    let compared = 0;
    await store.beside.transact(async (writes) => {
      for (const before of everyState(0, 3).filter(isPossible)) {
        for (const units of [-3, -2, -1, 0, 1, 2, 3]) {
          for (const openOrders of [-1, 0, 1]) {
            put(before);
            const { version, stockVersion } = (await writes.pet(petId)) as PetRecord;
            const move = { petId, units, openOrders, reason: "changed", orderId: 1 } as const;
            const after = await writes.moveStock(move, 0);
            const expected = ruled(before, units, openOrders);
            const what = `${shown(before)} with ${units} units and ${openOrders} orders: `;
            expect(what + (after ? shown(after) : "no")).toBe(what + (expected ? shown(expected) : "no"));
            if (after) {
              expect(isPossible(after)).toBe(true);
              expect(statusBefore(after, units, openOrders)).toBe(before.status);
              expect(after.version - version).toBe(after.status === before.status ? 0 : 1);
              expect(after.stockVersion - stockVersion).toBe(1);
            }
            compared++;
          }
        }
      }
    });
    expect(compared).toBe((12 + 15 + 1) * 7 * 3);
  });

  test("on a pet that does not exist", async () => {
    const move = { petId: petId + 1, units: 1, openOrders: 0, reason: "changed", orderId: 1 } as const;
    expect(await store.beside.transact(async (writes) => writes.moveStock(move, 0))).toBeNull();
  });
});

/** Units are taken only from an available pet that has them; the rest is `stockAfter`. */
function ruled(before: Stock, units: number, openOrders: number): Stock | null {
  const [quantity, open] = [before.quantity + units, before.openOrders + openOrders];
  const isAllowed = quantity >= 0 && open >= 0 && (units >= 0 || before.status === "available");
  return isAllowed ? stockAfter(before, quantity, open) : null;
}

function everyState(least: number, most: number): Stock[] {
  const counts = Array.from({ length: most - least + 1 }, (_, index) => least + index);
  return Object.values(letters).flatMap((status) =>
    counts.flatMap((quantity) => counts.map((openOrders) => ({ status, quantity, openOrders }))),
  );
}

function cells(table: string): { from: string; event: string; to: string }[] {
  const rows = table.trim().split("\n");
  const [head, ...body] = rows.map((row) => row.split("|").map((cell) => cell.trim())) as [
    string[],
    ...string[][],
  ];
  return body.flatMap(([from, ...row]) =>
    row.map((to, column) => ({ from: from as string, event: head[column + 1] as string, to })),
  );
}

function stateOf(text: string): Stock {
  const [, letter, quantity, openOrders] = /^([APS])(\d+)\/(\d+)$/.exec(text) as unknown as [
    string,
    string,
    string,
    string,
  ];
  return { status: letters[letter] as PetStatus, quantity: Number(quantity), openOrders: Number(openOrders) };
}

function shown({ status, quantity, openOrders }: Stock): string {
  return `${status.charAt(0).toUpperCase()}${quantity}/${openOrders}`;
}
