import { type AnyShape, type Problem, type Schema, type Shapes, shown } from "../contract/shape.ts";
import { some } from "../core/some.ts";

/** How much is told of a name that nobody knows. */
const TOLD_NAME_CHARACTERS = 100;
/** Problems after which no more of a query is read: it is refused anyway, and each that is not UTF-8 takes microseconds. */
const PROBLEMS_READ = 99;

/** Reads a query's parameters into the input; what is wrong is added to the problems. */
export type QueryReader = (search: string, into: Record<string, unknown>, problems: Problem[]) => void;

interface Parameter {
  readonly name: string;
  readonly shape: AnyShape;
  readonly isArray: boolean;
  /** The type that a value is written as. */
  readonly type: unknown;
}

/** The parameters that are known, each by its place among them. */
interface Known {
  readonly names: readonly string[];
  /** What is told of any other. */
  readonly unknown: string;
}

export function queryReader(shapes: Shapes): QueryReader {
  const parameters = Object.entries(shapes).map(([name, shape]) => parameterOf(name, shape));
  const names = parameters.map(({ name }) => name);
  const known: Known = {
    names,
    unknown: `is unknown; ${names.length === 0 ? "this operation takes none" : `known are ${names.join(", ")}`}`,
  };
  const defaults = Object.fromEntries(
    parameters.flatMap(({ name, shape }) => {
      const value = shape.check(undefined, []);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return (search, into, problems) => {
    Object.assign(into, defaults);
    if (search === "") return;
    const given = givenIn(search, known, problems);
    for (let number = 0; number < given.length; number++) {
      const texts = given[number];
      const parameter = parameters[number] as Parameter;
      if (texts) into[parameter.name] = readValue(parameter, texts, problems);
    }
  };
}

function parameterOf(name: string, shape: AnyShape): Parameter {
  const { schema } = shape;
  const isArray = schema.type === "array";
  return { name, shape, isArray, type: isArray ? (schema.items as Schema).type : schema.type };
}

/** What is given for each known parameter, by its number. */
function givenIn(search: string, { names, unknown }: Known, problems: Problem[]): (string[] | undefined)[] {
  const given: (string[] | undefined)[] = [];
  /** Unknown names, each of which is told once. */
  let strangers: Set<string> | undefined;
  // Behind the question mark, and then behind each ampersand.
  for (let start = 1, end = 0; start < search.length; start = end + 1) {
    const ampersand = search.indexOf("&", start);
    end = ampersand === -1 ? search.length : ampersand;
    if (start === end) continue;
    if (problems.length >= PROBLEMS_READ) {
      problems.push({ path: ["..."], message: "is not read: there are too many problems before it" });
      break;
    }
    const plain = names.findIndex((name) => isNameAt(start, search, name));
    const written = names[plain] ?? nameOf(search.slice(start, end));
    const name = plain === -1 ? decoded(written) : written;
    const text = search.slice(start + written.length + 1, end);
    const value = decoded(text);
    const number = name === null || plain !== -1 ? plain : names.indexOf(name);
    if (name === null || value === null) {
      const message = `must be percent-encoded UTF-8, got ${shown(text)}`;
      problems.push({ path: [written.slice(0, TOLD_NAME_CHARACTERS)], message });
    } else if (number === -1) {
      strangers ??= new Set();
      if (!strangers.has(name))
        problems.push({ path: [name.slice(0, TOLD_NAME_CHARACTERS)], message: unknown });
      strangers.add(name);
    } else {
      const texts = given[number];
      if (texts) texts.push(value);
      else given[number] = [value];
    }
  }
  return given;
}

/** Whether a whole name stands here as it is. Compared where it stands: to cut it out would make a text of it. */
function isNameAt(start: number, search: string, name: string): boolean {
  if (!search.startsWith(name, start)) return false;
  const end = start + name.length;
  return end === search.length || search[end] === "=" || search[end] === "&";
}

/** What stands before the equals sign of a part. */
function nameOf(part: string): string {
  const equals = part.indexOf("=");
  return equals === -1 ? part : part.slice(0, equals);
}

const ENCODED = /[%+]/;

/** As forms write it; `null` if it is not UTF-8, and would be read as something else. */
function decoded(text: string): string | null {
  if (!ENCODED.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

function readValue({ name, shape, isArray, type }: Parameter, texts: string[], problems: Problem[]): unknown {
  if (texts.length > 1 && !isArray) {
    problems.push({ path: [name], message: `must be given once, is given ${some(texts.length, "time")}` });
    return undefined;
  }
  const before = problems.length;
  const read = isArray ? texts.map((text) => coerced(type, text)) : coerced(type, texts[0] as string);
  const value = shape.check(read, problems);
  if (problems.length === before) return value;
  const hint =
    isArray && texts.some((text) => text.includes(",")) ? `; repeat ${name} for each of several` : "";
  for (const { path, message } of problems.splice(before))
    problems.push({ path: [name, ...path], message: message + hint });
  return value;
}

function coerced(type: unknown, text: string): unknown {
  if (type === "integer" && /^-?\d+$/.test(text)) {
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  }
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
