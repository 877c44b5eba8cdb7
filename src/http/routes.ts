const SLASH = 0x2f;

/** A place in the tree of paths: what is here, and what can follow. */
interface Place<T> {
  readonly fixed: { readonly part: string; readonly place: Place<T> }[];
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

/** What belongs to the rest of a path, from a character on. Fixed parts are compared where they stand: to cut them out would make a text of each. */
function find<T>(
  place: Place<T>,
  pathname: string,
  from: number,
  params: Record<string, string>,
): T | undefined {
  for (const fixed of place.fixed) {
    if (!isPartAt(fixed.part, pathname, from)) continue;
    const value = behind(fixed.place, pathname, from + fixed.part.length, params);
    if (value !== undefined) return value;
    break;
  }
  if (!place.variable) return undefined;
  const slash = pathname.indexOf("/", from);
  const end = slash < 0 ? pathname.length : slash;
  if (end === from) return undefined;
  params[place.variable.name] = decoded(pathname.slice(from, end));
  return behind(place.variable.place, pathname, end, params);
}

/** Whether the path's part that starts at a character is this one. */
function isPartAt(part: string, pathname: string, from: number): boolean {
  for (let at = 0; at < part.length; at++)
    if (pathname.charCodeAt(from + at) !== part.charCodeAt(at)) return false;
  const end = from + part.length;
  return end === pathname.length || pathname.charCodeAt(end) === SLASH;
}

/** What belongs to a path whose last part ends here, or to the rest of it. */
function behind<T>(
  place: Place<T>,
  pathname: string,
  end: number,
  params: Record<string, string>,
): T | undefined {
  return end === pathname.length ? place.value : find(place, pathname, end + 1, params);
}

function following<T>(place: Place<T>, part: string): Place<T> {
  const name = /^\{(\w+)\}$/.exec(part)?.[1];
  if (name !== undefined) {
    place.variable ??= { name, place: newPlace() };
    if (place.variable.name !== name)
      throw new Error(`{${place.variable.name}} and {${name}} share a place.`);
    return place.variable.place;
  }
  const known = place.fixed.find((fixed) => fixed.part === part);
  if (known) return known.place;
  const next = newPlace<T>();
  place.fixed.push({ part, place: next });
  return next;
}

function newPlace<T>(): Place<T> {
  return { fixed: [], variable: undefined, value: undefined };
}

function decoded(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
