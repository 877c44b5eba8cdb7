/** Below the ports that the system lends to whoever connects: of those one can be gone again before a server listens at it. */
const PORTS = { first: 20_000, count: 12_000 };
const given = new Set<number>();

/** A port that is free, and that this process was not given before. */
export function aFreePort(): number {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    if (given.has(port) || !isFree(port)) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
