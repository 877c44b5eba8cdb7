import { expect, test } from "bun:test";
import { adminKey, aFolder, petstore, type Served, serving } from "../cli/command.ts";

const CRASHES = 10;
const CONNECTIONS = 12;
const STOCK = 1_000_000;
const LEAST_MS = 50;
const MOST_MS = 450;

interface Order {
  readonly id: number;
  readonly petId: number;
  readonly quantity: number;
  readonly complete: boolean;
}

/** One request of the load: its key, its body, and the order that a 201 showed. */
interface Request {
  readonly key: string;
  readonly body: Omit<Order, "id">;
  order?: Order;
}

test("ten kills under load lose no order that was answered, and a repeated request makes no second one", async () => {
  using folder = aFolder();
  const requests: Request[] = [];
  let unanswered = 0;
  let petId = 0;

  for (let crash = 0; crash < CRASHES; crash++) {
    const load: Request[] = [];
    {
      await using server = await serving({ database: folder.database, env: { LOG_LEVEL: "silent" } });
      const send = sender(server, adminKey(folder));
      petId ||= await aPet(send);
      const clients = Array.from({ length: CONNECTIONS }, () => buyUntilDown(send, petId, load));
      await Bun.sleep(LEAST_MS + Math.random() * (MOST_MS - LEAST_MS));
      await server.end("SIGKILL");
      await Promise.all(clients);
    }
    await using server = await serving({ database: folder.database, env: { LOG_LEVEL: "silent" } });
    const send = sender(server, adminKey(folder));
    await inParallel(load, async (request) => {
      if (request.order) {
        const { status, body } = await send("GET", `/store/orders/${request.order.id}`);
        expect({ status, body }).toEqual({ status: 200, body: request.order });
      } else unanswered += 1;
      // Repeated, an answered request gives the same order and an unanswered one is placed at last.
      const repeated = await send("POST", "/store/orders", request.body, request.key);
      expect(repeated.status).toBe(201);
      if (request.order) expect(repeated.body).toEqual(request.order);
      request.order = repeated.body as Order;
    });
    requests.push(...load);
    await server.end("SIGKILL");
  }

  // The kills fell into the load, not beside it.
  expect(unanswered).toBeGreaterThan(0);
  expect(requests.length).toBeGreaterThan(CRASHES * CONNECTIONS);

  await using server = await serving({ database: folder.database, env: { LOG_LEVEL: "silent" } });
  const send = sender(server, adminKey(folder));
  const kept = await allOrders(send);
  const seen = requests.map(({ order }) => order as Order);
  expect(new Set(seen.map(({ id }) => id)).size).toBe(requests.length);
  expect(kept.map(({ id }) => id).sort(upward)).toEqual(seen.map(({ id }) => id).sort(upward));
  const sold = kept.reduce((units, { quantity }) => units + quantity, 0);
  const { body } = await send("GET", `/store/inventory/${petId}`);
  expect(body).toEqual({ petId, quantity: STOCK - sold, status: "available" });

  const doctor = await petstore(["doctor", "--json"], { env: { DATABASE_URL: folder.database } });
  expect(JSON.parse(doctor.stdout).findings).toEqual([]);
  expect(doctor.code).toBe(0);
}, 60_000);

type Send = (
  method: string,
  path: string,
  body?: unknown,
  key?: string,
) => Promise<{ status: number; body: unknown; next: string | undefined }>;

function sender({ url }: Served, apiKey: string): Send {
  return async (method, path, body, key) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        "x-api-key": apiKey,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(key !== undefined && { "idempotency-key": key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
    return { status: response.status, body: await response.json(), next };
  };
}

async function aPet(send: Send): Promise<number> {
  const category = await send("POST", "/categories", { name: "Fish" });
  const { id } = category.body as { id: number };
  const pet = await send("POST", "/pets", { name: "Nemo", categoryId: id });
  const petId = (pet.body as { id: number }).id;
  await send("PUT", `/store/inventory/${petId}`, { quantity: STOCK });
  return petId;
}

/** One client: an order after another until the server is gone. */
async function buyUntilDown(send: Send, petId: number, load: Request[]): Promise<void> {
  for (;;) {
    const chance = Math.random();
    const body = { petId, quantity: 1 + Math.floor(chance * 3), complete: chance < 0.2 };
    const request: Request = { key: crypto.randomUUID(), body };
    load.push(request);
    try {
      const { status, body } = await send("POST", "/store/orders", request.body, request.key);
      if (status !== 201) throw new Error(`an order was answered ${status}`);
      request.order = body as Order;
    } catch (error) {
      if ((error as Error).message.startsWith("an order")) throw error;
      return;
    }
  }
}

async function inParallel<T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const worker = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await work(next);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

async function allOrders(send: Send): Promise<Order[]> {
  const orders: Order[] = [];
  let path: string | undefined = "/store/orders?limit=100";
  while (path !== undefined) {
    const page: Awaited<ReturnType<Send>> = await send("GET", path);
    orders.push(...(page.body as Order[]));
    path = page.next;
  }
  return orders;
}

function upward(a: number, b: number): number {
  return a - b;
}
