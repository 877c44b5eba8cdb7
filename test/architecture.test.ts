import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  client,
  codeOf,
  everything,
  importsOf,
  inFolder,
  program,
  root,
  type Source,
  source,
} from "./sources.ts";

/** The imports of a folder that none of the patterns allow. */
function strays(folder: string, ...allowed: RegExp[]): string[] {
  return inFolder(folder).flatMap((file) =>
    importsOf(file)
      .filter(({ from }) => !allowed.some((pattern) => pattern.test(from)))
      .map(({ from }) => `${file.path} imports ${from}`),
  );
}

const from = (folder: string) => new RegExp(`^src/${folder}/`);

test("every import of a file names one that is there", () => {
  const missing = program.flatMap((file) =>
    importsOf(file)
      .filter(
        ({ from: path }) => /^(src|client|build|test|bench)\//.test(path) && !existsSync(join(root, path)),
      )
      .map(({ from: path }) => `${file.path} imports ${path}`),
  );
  expect(missing).toEqual([]);
});

test("the contract knows only itself", () => {
  expect(strays("contract", from("contract"))).toEqual([]);
});

test("the core knows the contract and itself: no HTTP, no SQL, no network", () => {
  expect(strays("core", from("contract"), from("core"), /^bun$/)).toEqual([]);
});

test("the store knows the core, and of the contract only types", () => {
  const drivers = /^(bun:sqlite|pg)$/;
  expect(strays("store", from("contract"), from("core"), from("store"), /^node:/, drivers)).toEqual([]);
  const values = inFolder("store").flatMap((file) =>
    importsOf(file)
      .filter((each) => each.from.startsWith("src/contract/") && !each.isTypeOnly)
      .map((each) => `${file.path} imports ${each.from}`),
  );
  expect(values).toEqual([]);
});

test("HTTP knows the contract and the core, and no store", () => {
  expect(strays("http", from("contract"), from("core"), from("http"), /^node:/, /^bun$/)).toEqual([]);
});

test("the metrics know the contract, themselves and what a figure is: their numbers are given to them", () => {
  const figures = /^src\/core\/figures\.ts$/;
  expect(
    strays("metrics", from("contract"), from("metrics"), figures, /^node:fs$/, /^package\.json$/),
  ).toEqual([]);
});

test("the worker knows the contract and the core, and no store", () => {
  expect(strays("worker", from("contract"), from("core"), from("worker"), /^node:/, /^bun$/)).toEqual([]);
});

test("the traces know the core and themselves: what is to be traced is told to them", () => {
  expect(strays("traces", from("core"), from("traces"), /^package\.json$/)).toEqual([]);
});

test("adapters never import each other", () => {
  const adapters = ["store", "limits", "http", "worker", "metrics", "traces"];
  for (const adapter of adapters) {
    const others = adapters.filter((other) => other !== adapter);
    const crossing = inFolder(adapter).flatMap((file) =>
      importsOf(file)
        .filter((each) => others.some((other) => each.from.startsWith(`src/${other}/`)))
        .map((each) => `${file.path} imports ${each.from}`),
    );
    expect(crossing).toEqual([]);
  }
});

test("the client knows only itself, its generator beside it only the contract, and the server not the client", () => {
  const strange = (files: readonly Source[], allowed: RegExp) =>
    files.flatMap((file) =>
      importsOf(file)
        .filter(({ from: path }) => !allowed.test(path))
        .map(({ from: path }) => `${file.path} imports ${path}`),
    );
  expect(strange(client, /^client\/src\//)).toEqual([]);
  const beside = everything.filter(({ path }) => /^client\/[\w-]+\.ts$/.test(path));
  expect(strange(beside, /^(client|src\/contract)\/|^node:/)).toEqual([]);
  const server = source.filter(({ path }) => !path.startsWith("src/console/"));
  expect(server.flatMap(importsOf).filter(({ from: path }) => path.startsWith("client/"))).toEqual([]);
});

test("the console knows only itself and the client, and nobody imports it", () => {
  expect(strays("console", from("console"), /^client\/src\/index\.ts$/)).toEqual([]);
  const server = source.filter(({ path }) => !path.startsWith("src/console/"));
  expect(server.flatMap(importsOf).filter(({ from: path }) => path.startsWith("src/console/"))).toEqual([]);
});

test("the console shows text as text: nothing of it reads markup or runs a string", () => {
  const markup =
    /\b(innerHTML|outerHTML|insertAdjacentHTML|DOMParser|srcdoc|setHTML\w*|createContextualFragment|eval|Function)\b|document\.write|javascript:/;
  const found = inFolder("console").filter(({ text }) => markup.test(text));
  expect(found.map(({ path }) => path)).toEqual([]);
});

test("the console keeps nothing in the browser: what it needs to know is in its address", () => {
  const kept = /\b(localStorage|sessionStorage|indexedDB|caches|document\.cookie)\b/;
  expect(
    inFolder("console")
      .filter(({ text }) => kept.test(text))
      .map(({ path }) => path),
  ).toEqual([]);
});

test("the client uses nothing that only one runtime has, and depends on nothing", async () => {
  const reached = /\b(process|Bun|Deno|Buffer|document|global|require|__dirname)\b[.(]/;
  expect(client.filter((file) => reached.test(codeOf(file))).map(({ path }) => path)).toEqual([]);
  const manifest = await Bun.file(join(root, "client/package.json")).json();
  for (const kind of ["dependencies", "peerDependencies", "optionalDependencies", "devDependencies"])
    expect(manifest[kind]).toBeUndefined();
});

test("nobody imports the command, only the command imports main, only main its wiring, and nobody the writer", () => {
  const importers = (target: RegExp) =>
    source
      .filter((file) => importsOf(file).some(({ from: path }) => target.test(path)))
      .map(({ path }) => path);
  expect(importers(/^src\/cli\//).filter((path) => !path.startsWith("src/cli/"))).toEqual([]);
  expect(importers(/^src\/main\.ts$/).filter((path) => !path.startsWith("src/cli/"))).toEqual([]);
  const wires = (path: string) => path === "src/main.ts" || path.startsWith("src/wiring/");
  const wired = importers(/^src\/wiring\//).filter((path) => !wires(path));
  // It says why a port cannot be listened on.
  expect(wired).toEqual(["src/cli/serve.ts"]);
  expect(importers(/^src\/writer\.ts$/)).toEqual([]);
});

test("only files.ts names files by where it is: in the executable no other module is where it was", () => {
  const placed = source.filter((file) => /\bimport\.meta\b|\b__dirname\b|\bBun\.main\b/.test(codeOf(file)));
  expect(placed.map(({ path }) => path)).toEqual(["src/files.ts"]);
});

test("only a database's own folder has its driver, and the two folders do not know each other", () => {
  const importers = (pattern: RegExp) =>
    source
      .filter((file) => importsOf(file).some(({ from: path }) => pattern.test(path)))
      .map(({ path }) => path);
  for (const path of importers(/^bun:sqlite$/)) expect(path).toStartWith("src/store/sqlite/");
  for (const path of importers(/^pg$/)) expect(path).toStartWith("src/store/postgres/");
  expect(importers(/^src\/store\/sqlite\//).filter((path) => path.includes("/postgres/"))).toEqual([]);
  expect(importers(/^src\/store\/postgres\//).filter((path) => path.includes("/sqlite/"))).toEqual([]);
});

/** Every file and package that is loaded together with this file. */
function loadedWith(path: string, loaded = new Set([path])): Set<string> {
  const file = source.find((each) => each.path === path);
  for (const { from: next, isTypeOnly, isLazy } of file ? importsOf(file) : []) {
    if (isTypeOnly || isLazy || loaded.has(next)) continue;
    loaded.add(next);
    loadedWith(next, loaded);
  }
  return loaded;
}

test("the writer's thread loads the core and its database, and no validator, no HTTP, no package", () => {
  const strange = [...loadedWith("src/writer.ts")].filter(
    (path) =>
      !/^(src\/(writer\.ts|core|store|contract\/(bounds|conflicts|days|errors|event-types|plans|route)\.ts)|bun(:sqlite)?$)/.test(
        path,
      ),
  );
  expect(strange).toEqual([]);
});

test("a start of the server loads no database or Valkey before it is named, no other command and no page", () => {
  const command = [...loadedWith("src/cli/petstore.ts")];
  expect(command.filter((path) => /^src\/(http|limits|core\/operations\.ts)/.test(path))).toEqual([]);
  const needless =
    /^(pg|ioredis)$|^node:(crypto|http|zlib)$|^src\/(store\/(sqlite|postgres|move)|limits\/valkey|traces|http\/(docs|page-server|streams|console\/pages)|console|metrics\/(text|famil|process)|contract\/openapi|cli\/(backup|bans|clients|keys|move|store))/;
  expect([...loadedWith("src/cli/serve.ts")].filter((path) => needless.test(path))).toEqual([]);
});

test("the settings know nothing of the house, and nothing but the settings reads the environment", () => {
  const own = ["src/config.ts", "src/given.ts", "src/addresses.ts", "src/values.ts"];
  const imported = source.filter(({ path }) => own.includes(path)).flatMap(importsOf);
  expect(imported.filter(({ from }) => !from.startsWith("node:") && !own.includes(from))).toEqual([]);
  const readers = source.filter((file) => /\bprocess\.env\b|\bBun\.env\b/.test(codeOf(file)));
  expect(readers.map(({ path }) => path).filter((path) => !path.startsWith("src/cli/"))).toEqual([]);
});

test("the core takes time, chance and the world as arguments", () => {
  const reached =
    /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\)|\bMath\.random\b|\bfetch\(|\bprocess\.|\bBun\.|\bperformance\.|\bset(?:Timeout|Interval|Immediate)\(|\bconsole\.|\bcrypto\.(?:random|getRandom)|\bglobalThis\b/;
  const found = inFolder("core").flatMap((file) =>
    codeOf(file)
      .split("\n")
      .filter((line) => reached.test(line))
      .map((line) => `${file.path}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

test("the contract reads no clock and takes no chance", () => {
  const reached = /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bfetch\(|\bprocess\.|\bconsole\./;
  expect(
    inFolder("contract")
      .filter((file) => reached.test(codeOf(file)))
      .map(({ path }) => path),
  ).toEqual([]);
});

test("only the command prints", () => {
  const printers = source.filter((file) => /\bconsole\.\w/.test(codeOf(file))).map(({ path }) => path);
  expect(printers.filter((path) => !path.startsWith("src/cli/"))).toEqual([]);
});
