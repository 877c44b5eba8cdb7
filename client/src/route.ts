/** An operation as the client sends it. */
export interface Route {
  /** Its one name, such as `pets.list`. */
  readonly id: string;
  /** Method and path, for messages. */
  readonly what: string;
  readonly method: string;
  readonly path: string;
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
    takesInput: words.includes("input"),
    isList: words.includes("list"),
    isStream: words.includes("stream"),
    isUncounted: words.includes("uncounted"),
    successor: words.find((word) => word.startsWith("successor="))?.slice("successor=".length),
  };
}
