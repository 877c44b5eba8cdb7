/** A place in the tree of paths: what is here, and what can follow. */
interface Place<T> {
  readonly fixed: Map<string, Place<T>>;
  /** What follows when the next part is any: the variable's name, and the place behind it. */
  variable: { readonly name: string; readonly place: Place<T> } | undefined;
  value: T | undefined;
}

export interface Routed<T> {
  readonly value: T;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds what belongs to a path: `/pets/{petId}` to `/pets/7`. A fixed part goes before a variable one. */
export function routes<T>(
  table: Iterable<readonly [pattern: string, value: T]>,
): (pathname: string) => Routed<T> | null {
  const root = newPlace<T>();
  for (const [pattern, value] of table) {
    let place = root;
    for (const part of pattern.slice(1).split("/")) place = following(place, part);
    place.value = value;
  }
  return (pathname) => {
    if (!pathname.startsWith("/")) return null;
    const params: Record<string, string> = {};
    const value = find(root, pathname, 1, params);
    return value === undefined ? null : { value, params };
  };
}

/** What belongs to the rest of a path, from a character on. */
function find<T>(
  place: Place<T>,
  pathname: string,
  from: number,
  params: Record<string, string>,
): T | undefined {
  const slash = pathname.indexOf("/", from);
  const part = slash < 0 ? pathname.slice(from) : pathname.slice(from, slash);
  const fixed = place.fixed.get(part);
  const value = fixed && behind(fixed, pathname, slash, params);
  if (value !== undefined || !place.variable || part === "") return value;
  params[place.variable.name] = decoded(part);
  return behind(place.variable.place, pathname, slash, params);
}

function behind<T>(
  place: Place<T>,
  pathname: string,
  slash: number,
  params: Record<string, string>,
): T | undefined {
  return slash < 0 ? place.value : find(place, pathname, slash + 1, params);
}

function following<T>(place: Place<T>, part: string): Place<T> {
  const name = /^\{(\w+)\}$/.exec(part)?.[1];
  if (name !== undefined) {
    place.variable ??= { name, place: newPlace() };
    if (place.variable.name !== name)
      throw new Error(`{${place.variable.name}} and {${name}} share a place.`);
    return place.variable.place;
  }
  const next = place.fixed.get(part) ?? newPlace<T>();
  place.fixed.set(part, next);
  return next;
}

function newPlace<T>(): Place<T> {
  return { fixed: new Map(), variable: undefined, value: undefined };
}

function decoded(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
