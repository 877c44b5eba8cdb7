import { Failure } from "../../src/core/failure.ts";

/** A read's and a write's own deadlines on PostgreSQL, with room for a busy machine. */
export const READ_MS = 2500;
export const WRITE_MS = 4000;

/** What became of something, and how long it took. */
export async function outcome(work: () => Promise<unknown>): Promise<{ code: string; ms: number }> {
  const since = performance.now();
  const code = await work().then(
    () => "done",
    (error) => (error instanceof Failure ? error.code : String(error)),
  );
  return { code, ms: performance.now() - since };
}
