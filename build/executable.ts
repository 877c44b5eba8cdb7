// Builds dist/petstore, or the file that is named: the server and the command in one file, for the platform that it is built on.
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import packageFile from "../package.json" with { type: "json" };
import { consoleFolder, copyThread, writerThread } from "../src/files.ts";
import { consoleParts, MADE_SCRIPT } from "../src/http/console/pages.ts";

const root = join(import.meta.dir, "..");
const source = join(root, "src");

/** Writes the executable to a file, which is the old one until the new one is whole. */
export async function buildExecutable(file: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  const folder = mkdtempSync(`${file}-`);
  try {
    const built = join(folder, "petstore");
    await compiled(built, await madeConsole(folder));
    renameSync(built, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The console's files as a browser gets them, its script among them. */
async function madeConsole(folder: string): Promise<string> {
  const into = join(folder, "console");
  cpSync(consoleFolder, into, { recursive: true, filter: (path) => !/\.(ts|json)$/.test(path) });
  await Bun.write(join(into, MADE_SCRIPT), await consoleParts.script.make(consoleFolder));
  return into;
}

async function compiled(outfile: string, consoleFiles: string): Promise<void> {
  await Bun.build({
    entrypoints: [join(source, "cli/executable.ts"), fileURLToPath(writerThread), fileURLToPath(copyThread)],
    root: source,
    target: "bun",
    format: "esm",
    // What a start does not need is not loaded, as from source.
    splitting: true,
    bytecode: true,
    // A fault's stack names our files; the maps are in the executable, and those beside it are left behind.
    sourcemap: "inline",
    // Nothing of the builder's environment, and no path of the builder's machine: a package asks for its own.
    env: "disable",
    // `pg` would look for another driver in the folder that the executable is started in, if a variable asks for it.
    define: { __dirname: '"node_modules"', "process.env.NODE_PG_FORCE_NATIVE": "undefined" },
    external: ["pg-native"],
    compile: {
      outfile,
      assets: [consoleFiles],
      // As the script `petstore` starts the runtime.
      execArgv: ["--smol"],
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  });
}

if (import.meta.main) {
  const [file = "dist/petstore"] = process.argv.slice(2);
  await buildExecutable(resolve(root, file));
  const megabytes = (statSync(resolve(root, file)).size / 1_000_000).toFixed(1);
  console.log(`${file} is built: Petstore ${packageFile.version}, ${megabytes} MB.`);
}
