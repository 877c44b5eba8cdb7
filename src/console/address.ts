/** Which page is open, from the part of the address behind `#`: no server, log or other site sees it. */
export interface Place {
  /** `pets`, `7` for `#/pets/7`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

type Query = Readonly<Record<string, string | number | undefined>>;

export function here(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return {
    parts: path.split("/").filter((part) => part !== ""),
    query: new URLSearchParams(query),
  };
}

/** The address of a page. */
export function hrefOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== "") search.set(name, String(value));
  return `#/${path}${search.size > 0 ? `?${search}` : ""}`;
}

export function go(path: string): void {
  location.hash = hrefOf(path);
}

/** Draws the open page from its beginning. */
export function openAgain(): void {
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Keeps what a list is narrowed by in the address, so that it can be shared and come back to. */
export function keepQuery(path: string, query: Query): void {
  history.replaceState(null, "", hrefOf(path, query));
}

/** The secret of a sign-in link, taken out of the address before anybody can look at it. */
export function takeLink(): string | undefined {
  const link = /^#link=([\w-]+)$/.exec(location.hash)?.[1];
  if (link !== undefined) history.replaceState(null, "", location.pathname);
  return link;
}
