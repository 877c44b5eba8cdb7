import { join } from "node:path";
import { oneFilePeers, peers } from "./contenders.ts";
import { readAnew } from "./install.ts";

/** Compiles the peers on our runtime, with what makes ours start sooner: all modules in one file, with bytecode. */
export async function compilePeers(): Promise<void> {
  const root = join(import.meta.dir, "..");
  const files: string[] = [];
  for (const { name, command } of oneFilePeers) {
    const [outfile] = command as [string];
    const source = peers.find((peer) => name.startsWith(peer.name))?.command.at(-1) as string;
    await Bun.build({
      entrypoints: [join(root, source)],
      target: "bun",
      format: "esm",
      minify: true,
      bytecode: true,
      env: "disable",
      compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
    });
    files.push(outfile);
  }
  readAnew(files);
}
