// Buyers that go on placing orders whatever happens, readers beside them, and every answer remembered.
import { asked, type World } from "./world.ts";

const BUYERS = 12;
const READERS = 4;
const PETS = 4;
const STOCK = 1_000_000;
/** Between two requests of one buyer: a steady load, not a flood. */
const PAUSE_MS = 10;
const REPEAT_AFTER_MS = 100;
/** Who has no answer after so long hangs. */
const HANG_MS = 20_000;
/** How long a buyer that has no order yet goes on after the load has ended. */
const LAST_TRIES_MS = 10_000;

export interface Asked {
  readonly what: "order" | "read";
  /** By `performance.now()`. */
  readonly began: number;
  readonly ms: number;
  /** `null` if no answer came. */
  readonly status: number | null;
  readonly hasRetryAfter: boolean;
  /** Why there was none, or what the answer said of its refusal. */
  readonly cause: string;
}

export interface Placed {
  readonly id: number;
  readonly petId: number;
}

export interface Load {
  readonly petIds: readonly number[];
  readonly requests: readonly Asked[];
  /** The order of each idempotency key that was answered with one. */
  readonly orders: ReadonlyMap<string, Placed>;
  /** Keys whose buyer gave up without an order. */
  readonly unsettled: readonly string[];
  /** One more order at one address, tried for so long. */
  placeAt(url: string, withinMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts to buy and to read at these addresses in turn, each order with a key that is repeated until it is answered 201. */
export async function buying(world: World, urls: readonly string[]): Promise<Load> {
  const petIds = await pets(world);
  const name = crypto.randomUUID();
  const requests: Asked[] = [];
  const orders = new Map<string, Placed>();
  const unsettled: string[] = [];
  let [turn, keys, endsAt] = [0, 0, Number.POSITIVE_INFINITY];
  const isOver = () => performance.now() >= endsAt;
  const next = () => urls[turn++ % urls.length] as string;
  const ask = async (what: Asked["what"], url: string, init?: RequestInit) => {
    const began = performance.now();
    const answer = await answerOf(world, url, init);
    const { status, hasRetryAfter, cause } = answer;
    requests.push({ what, began, ms: performance.now() - began, status, hasRetryAfter, cause });
    return answer;
  };
  const place = async (at: () => string, until: () => number) => {
    const key = `${name}-${keys++}`;
    const petId = petIds[keys % petIds.length] as number;
    for (;;) {
      const { status, body } = await ask("order", `${at()}/store/orders`, orderOf(petId, key));
      if (status === 201) return void orders.set(key, { id: body.id as number, petId });
      if (performance.now() > until()) return void unsettled.push(key);
      await Bun.sleep(REPEAT_AFTER_MS);
    }
  };
  const buyer = async () => {
    while (!isOver()) {
      await place(next, () => endsAt + LAST_TRIES_MS);
      await Bun.sleep(PAUSE_MS);
    }
  };
  const reader = async () => {
    while (!isOver()) {
      await ask("read", `${next()}/store/inventory/${petIds[turn % petIds.length]}`);
      await Bun.sleep(PAUSE_MS);
    }
  };
  const everybody = [...Array.from({ length: BUYERS }, buyer), ...Array.from({ length: READERS }, reader)];
  return {
    petIds,
    requests,
    orders,
    unsettled,
    placeAt: (url, withinMs) => {
      const until = performance.now() + withinMs;
      return place(
        () => url,
        () => until,
      );
    },
    async stop() {
      endsAt = performance.now();
      await Promise.all(everybody);
    },
  };
}

/** Sends an order anew with its key; what it is answered with. */
export function repeated(world: World, url: string, petId: number, key: string) {
  return answerOf(world, `${url}/store/orders`, orderOf(petId, key));
}

function orderOf(petId: number, key: string): RequestInit {
  return { method: "POST", body: JSON.stringify({ petId }), headers: { "idempotency-key": key } };
}

interface Answer {
  readonly status: number | null;
  readonly hasRetryAfter: boolean;
  readonly body: Readonly<Record<string, unknown>>;
  readonly cause: string;
}

async function answerOf({ staff }: World, url: string, init: RequestInit = {}): Promise<Answer> {
  const headers = { "x-api-key": staff, "content-type": "application/json", ...init.headers };
  try {
    const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(HANG_MS) });
    const body = (await response.json()) as Record<string, unknown>;
    const cause = response.ok ? "" : `${body.code}: ${body.message}`;
    return { status: response.status, hasRetryAfter: response.headers.has("retry-after"), body, cause };
  } catch (error) {
    return { status: null, hasRetryAfter: false, body: {}, cause: String(error) };
  }
}

async function pets({ urls, staff }: World): Promise<number[]> {
  const [url = ""] = urls;
  const send = async (method: string, path: string, body: unknown) => {
    const response = await asked(url + path, staff, method, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: number };
  };
  const { id: categoryId } = await send("POST", "/categories", { name: "Dogs" });
  const ids: number[] = [];
  for (let n = 0; n < PETS; n++) {
    const { id } = await send("POST", "/pets", { name: "Rex", categoryId });
    await send("PUT", `/store/inventory/${id}`, { quantity: STOCK });
    ids.push(id);
  }
  return ids;
}

/** What every pet of a load had at first. */
export const STOCK_OF_ALL = PETS * STOCK;
