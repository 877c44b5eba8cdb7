// Large bodies that arrive at once: how many there may be, of all and of one client.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { BODY_BYTES, LARGE_BODIES, LARGE_BODIES_OF_A_CLIENT } from "../../src/http/body.ts";
import { aStore, type Person, type TestStore } from "../harness.ts";
import { asked, aWire, type Wire } from "./wire.ts";

let store: TestStore;
let batch: string;
beforeAll(async () => {
  store = await aStore();
  const { id: categoryId } = (await store.staff.post("/categories", { name: "Many" })).body;
  batch = JSON.stringify([{ name: "Rex", categoryId }]).padEnd(BODY_BYTES + 1);
});
afterAll(() => store.stop());

function head(by: Person, length = batch.length): string {
  return asked(by, "POST /pets/batch", "Content-Type: application/json", `Content-Length: ${length}`);
}

/** So many batches of a key, each of which is waited for: it has heard the word for its body. */
async function begun(by: Person, count: number, wires: DisposableStack): Promise<Wire[]> {
  const all: Wire[] = [];
  for (let n = 0; n < count; n++) {
    const wire = wires.use(await aWire(store.url));
    wire.say(head(by).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"));
    expect((await wire.answer()).status).toBe(100);
    all.push(wire);
  }
  return all;
}

async function expectRefused(by: Person): Promise<void> {
  const before = await store.snapshot();
  using wire = await aWire(store.url);
  wire.say(head(by));
  const { status, body, headers } = await wire.answer();
  expect([status, body.code, headers.get("retry-after")]).toEqual([503, "overloaded", "1"]);
  expect(await store.snapshot()).toBe(before);
}

async function expectTaken(by: Person, sent = batch): Promise<void> {
  using wire = await aWire(store.url);
  wire.say(head(by, sent.length) + sent);
  expect((await wire.answer()).status).toBe(201);
}

test("one client takes only its share of the places for large bodies, by all its keys together: the rest is for others", async () => {
  using wires = new DisposableStack();
  const colleague = await store.newPerson("staff", { clientId: store.staff.clientId });
  const [first, ...others] = [
    ...(await begun(store.staff, LARGE_BODIES_OF_A_CLIENT - 1, wires)),
    ...(await begun(colleague, 1, wires)),
  ];
  await expectRefused(store.staff);
  await expectRefused(colleague);
  await expectTaken(store.staff, batch.trim());
  await expectTaken(await store.newPerson("staff"));
  first?.say(batch);
  expect((await first?.answer())?.status).toBe(201);
  await expectTaken(colleague);
  for (const other of others) {
    other.say(batch);
    expect((await other.answer()).status).toBe(201);
  }
});

test("many large bodies at once do not fill the memory: one too many is refused, small ones are taken, and one that ends makes room", async () => {
  using wires = new DisposableStack();
  const all: Wire[] = [];
  for (let left = LARGE_BODIES; left > 0; left -= LARGE_BODIES_OF_A_CLIENT)
    all.push(...(await begun(await store.newPerson("staff"), LARGE_BODIES_OF_A_CLIENT, wires)));
  expect(all).toHaveLength(LARGE_BODIES);
  await expectRefused(store.staff);
  await expectTaken(store.staff, batch.trim());
  const [first, second] = all;
  first?.say(batch);
  expect((await first?.answer())?.status).toBe(201);
  second?.[Symbol.dispose]();
  for (let n = 0; n < 2; n++) await expectTaken(store.staff);
});
