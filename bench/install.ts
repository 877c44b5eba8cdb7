import { existsSync } from "node:fs";
import { join } from "node:path";
import { buildExecutable } from "../build/executable.ts";
import { needed } from "../test/tools.ts";
import { binaries, EXECUTABLE } from "./contenders.ts";

const folder = import.meta.dir;

/** Brings what is measured and what the bench needs: tools by apt, peers by npm, ours built. */
export async function install(): Promise<void> {
  await needed("taskset", "util-linux");
  await needed("wrk");
  await needed("nginx", "nginx-light");
  await needed("strace");
  await installPeers();
  await buildExecutable(EXECUTABLE);
  readAnew(binaries);
}

async function installPeers(): Promise<void> {
  const installed = Bun.file(join(folder, "node_modules/.package-lock.json"));
  const lock = Bun.file(join(folder, "package-lock.json"));
  if (existsSync(join(folder, "node_modules")) && installed.lastModified >= lock.lastModified) return;
  console.log("Installing the peers ...");
  const { exitCode, stderr } = Bun.spawnSync(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdout: "ignore",
  });
  if (exitCode !== 0) throw new Error(`npm ci in bench/ failed: ${stderr}`);
}

/**
 * Lets the system forget what it has of these files, so that all of them are read from the disk: of one that was just written it has
 * larger pieces at hand, and maps more of it into a process.
 */
export function readAnew(files: readonly string[]): void {
  for (const file of files)
    for (const command of [
      ["sync", "--data", file],
      ["dd", `if=${file}`, "iflag=nocache", "count=0", "status=none"],
    ]) {
      const { exitCode, stderr } = Bun.spawnSync(command);
      if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stderr}`);
    }
}
