// A client that asks every instance all the time, over a few connections each.
import { asked, type World } from "./world.ts";

const CONNECTIONS_EACH = 3;
const PAUSE_MS = 8;

export interface Polled {
  /** By `performance.now()`. */
  readonly began: number;
  readonly ms: number;
  /** `null` if no answer came. */
  readonly status: number | null;
}

export interface Polling extends AsyncDisposable {
  readonly requests: readonly Polled[];
  stop(): Promise<void>;
}

export function polling({ urls }: World, key: string): Polling {
  const requests: Polled[] = [];
  let isOver = false;
  const lane = async (url: string) => {
    while (!isOver) {
      const began = performance.now();
      const status = await asked(`${url}/account`, key).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => null,
      );
      requests.push({ began, ms: performance.now() - began, status });
      await Bun.sleep(PAUSE_MS);
    }
  };
  const lanes = urls.flatMap((url) => Array.from({ length: CONNECTIONS_EACH }, () => lane(url)));
  const stop = async () => {
    isOver = true;
    await Promise.all(lanes);
  };
  return { requests, stop, [Symbol.asyncDispose]: stop };
}
