// Builds the package into client/dist: one ES module, its types, and the figure of what a bundler would ship of it.
import { rmSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dir;

/** Bytes of the whole client in a page's bundle. */
export interface ClientSize {
  readonly minified: number;
  readonly gzipped: number;
}

/** Writes the package's files to a folder. */
export async function buildClient(into = join(folder, "dist")): Promise<ClientSize> {
  rmSync(into, { recursive: true, force: true });
  await Bun.write(join(into, "index.js"), await bundled(false));
  await buildTypes(into);
  return clientSize();
}

export async function clientSize(): Promise<ClientSize> {
  const minified = await bundled(true);
  return { minified: minified.length, gzipped: Bun.gzipSync(minified, { level: 9 }).length };
}

async function bundled(minify: boolean): Promise<Uint8Array<ArrayBuffer>> {
  const { outputs } = await Bun.build({
    entrypoints: [join(folder, "src/index.ts")],
    target: "browser",
    format: "esm",
    minify,
  });
  return new Uint8Array(await (outputs[0] as Blob).arrayBuffer());
}

/** The compiler leaves `.ts` in the imports of declarations, where readers have only `.js`; what nobody can reach is left out. */
async function buildTypes(into: string): Promise<void> {
  const compiler = join(folder, "../node_modules/.bin/tsc");
  const { exitCode, stdout } = Bun.spawnSync([compiler, "-p", folder, "--outDir", into]);
  if (exitCode !== 0) throw new Error(`tsc failed: ${stdout}`);
  const needed = new Set(["index"]);
  for (const name of needed) {
    const file = Bun.file(join(into, `${name}.d.ts`));
    const text = await file.text();
    for (const [, imported] of text.matchAll(/from "\.\/([\w-]+)\.ts"/g)) needed.add(imported as string);
    await Bun.write(file, text.replaceAll(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"'));
  }
  for (const name of new Bun.Glob("*.d.ts").scanSync(into))
    if (!needed.has(name.replace(/\.d\.ts$/, ""))) rmSync(join(into, name));
}

if (import.meta.main) {
  const { minified, gzipped } = await buildClient();
  console.log(`client/dist is built. Minified: ${minified} bytes, gzipped: ${gzipped} bytes.`);
}
