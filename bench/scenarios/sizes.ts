import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { clientSize } from "../../client/build.ts";
import type { Scenario } from "../bench.ts";
import { type Contender, contenders, EXECUTABLE } from "../contenders.ts";
import { type Figure, figureOf, OURS } from "../figures.ts";

const bench = join(import.meta.dir, "..");

interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

interface LockEntry {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export const sizeScenarios: readonly Scenario[] = [
  {
    name: "install",
    about: "what is installed: beside the runtime, and with it",
    async run() {
      const packages: Figure[] = [];
      const whole: Figure[] = [];
      for (const contender of contenders) {
        const { own, runtime } = await installed(contender);
        packages.push(figureOf(contender.name, [own]));
        whole.push(figureOf(contender.name, [own + runtime]));
      }
      const note =
        "Ours is one file. Beside the runtime it has all modules and their packages as text, bytecode and source maps, the clients of PostgreSQL and Valkey among them; the peers have their packages, and none for those.";
      const shape = { unit: "MiB", wantsMore: false, against: OURS, note } as const;
      return [
        { name: "install", title: "Installed beside Bun or Node", figures: packages, ...shape },
        { name: "install-runtime", title: "Installed with Bun or Node", figures: whole, ...shape },
      ];
    },
  },
  {
    name: "client",
    about: "what petstore-client weighs in a page",
    async run() {
      const { minified, gzipped } = await clientSize();
      const figures = [figureOf("minified", [minified]), figureOf("gzipped", [gzipped])];
      const title = "petstore-client in a page";
      return [{ name: "client", title, unit: "bytes", wantsMore: false, against: "minified", figures }];
    },
  },
];

/** MiB on disk: of the executable what it has beside the runtime, of a peer the packages that the lock file says it needs. */
async function installed({
  isOurs,
  packages,
  runtime,
}: Contender): Promise<{ own: number; runtime: number }> {
  const lock = (await Bun.file(join(bench, "package-lock.json")).json()) as Lock;
  const binary =
    runtime === "node" ? join(bench, `node_modules/node-linux-${process.arch}/bin/node`) : process.execPath;
  const mebibytes = (paths: readonly string[]) =>
    paths.reduce((sum, path) => sum + bytesOf(path), 0) / 1024 ** 2;
  const runtimeSize = mebibytes([binary]);
  const own = isOurs
    ? mebibytes([EXECUTABLE]) - runtimeSize
    : mebibytes(closure(lock, packages).map((path) => join(bench, path)));
  return { own, runtime: runtimeSize };
}

/** The packages, and all that they need, by where they are installed. */
function closure({ packages }: Lock, names: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const path = nearest(packages, name, from);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    const { dependencies, peerDependencies } = packages[path] as LockEntry;
    for (const next of Object.keys({ ...dependencies, ...peerDependencies })) visit(next, path);
  };
  for (const name of names) visit(name, "");
  return [...found];
}

/** Where a package that is asked for from a place is found: there, or further up. An optional one may be nowhere. */
function nearest(packages: Lock["packages"], name: string, from: string): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/")))) {
    const path = place === "" ? `node_modules/${name}` : `${place}/node_modules/${name}`;
    if (packages[path]) return path;
    if (place === "") return undefined;
  }
}

function bytesOf(path: string): number {
  const entry = lstatSync(path);
  if (!entry.isDirectory()) return entry.size;
  return readdirSync(path)
    .filter((name) => name !== "node_modules")
    .reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}
