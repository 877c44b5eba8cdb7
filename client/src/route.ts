/** An operation as the client sends it. */
export interface Route {
  /** Its one name, such as `pets.list`. */
  readonly id: string;
  /** Method and path, for messages. */
  readonly what: string;
  readonly method: string;
  readonly path: string;
  /** Of the path's parameters. */
  readonly names: readonly string[];
  /** Whether a body or a query comes after the path's parameters. */
  readonly takesInput: boolean;
  readonly isList: boolean;
  /** Whether its answer is events that keep coming. */
  readonly isStream: boolean;
  /** Whether it goes beside the rate limit. */
  readonly isUncounted: boolean;
  readonly successor: string | undefined;
}

/** Reads an entry of the route table. */
export function routeOf(id: string, text: string): Route {
  const [method = "", path = "", ...words] = text.split(" ");
  return {
    id,
    what: `${method} ${path}`,
    method,
    path,
    names: path.match(/(?<=\{)\w+/g) ?? [],
    takesInput: words.includes("input"),
    isList: words.includes("list"),
    isStream: words.includes("stream"),
    isUncounted: words.includes("uncounted"),
    successor: words.find((word) => word.startsWith("successor="))?.slice("successor=".length),
  };
}

/** A route's path with these ids in it. A number that is no longer exact would name another record. */
export function pathOf({ id, path, names }: Route, ids: readonly unknown[]): string {
  return names.reduce((text, name, index) => {
    const value = ids[index];
    if (typeof value !== "bigint" && !Number.isSafeInteger(value))
      throw new TypeError(
        `${id}: ${name} must be an integer, or a bigint above 2^53, got ${typeof value} ${String(value)}.`,
      );
    return text.replace(`{${name}}`, String(value));
  }, path);
}
