import type { Config } from "../config.ts";

/** Where to listen. */
type Place = Pick<Config, "host" | "port">;

/** An address cannot be listened on: that of `PORT`, or of another setting that ends so. */
export class NotListening extends Error {
  constructor(
    readonly place: Place,
    readonly prefix: "" | "METRICS_",
    override readonly cause: unknown,
  ) {
    super(`${place.host}:${place.port} cannot be listened on.`);
  }
}

/** What listens there, or why nothing does. */
export function listening<T>(
  { host, port }: Place,
  prefix: NotListening["prefix"],
  listen: (at: Place) => T,
): T | NotListening {
  try {
    return listen({ host, port });
  } catch (error) {
    return new NotListening({ host, port }, prefix, error);
  }
}

export function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
