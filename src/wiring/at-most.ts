/** Waits for it, but no longer than this, and says whether it is done; no timer stays behind that would keep the process alive. */
export async function atMost(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: timeIsUp, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, milliseconds, false);
  try {
    return await Promise.race([work.then(() => true), timeIsUp]);
  } finally {
    clearTimeout(timer);
  }
}
