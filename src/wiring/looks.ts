import { atMost } from "./at-most.ts";

/** How long whoever looks waits for counts; then he sees what there is, though it be older. */
const WAIT_MS = 1000;
/** So soon after a look there is nothing new to see, and nothing to wait for if it came to nothing. */
const REST_MS = 500;

/** The same work, done once for all who look meanwhile: no read waits long for a database that cannot be written. */
export function forThoseWhoLook(show: () => Promise<void>): () => Promise<void> {
  let looking: Promise<void> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const look = async () => {
    await atMost(
      WAIT_MS,
      show().catch(() => {}),
    );
    lookedAt = performance.now();
    looking = undefined;
  };
  return async () => {
    if (performance.now() - lookedAt >= REST_MS) looking ??= look();
    await looking;
  };
}
