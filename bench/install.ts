import { existsSync } from "node:fs";
import { join } from "node:path";
import { needed } from "../test/tools.ts";

const folder = import.meta.dir;

/** Brings what the bench needs and the program does not: tools by apt, peers by npm. */
export async function install(): Promise<void> {
  await needed("taskset", "util-linux");
  await needed("wrk");
  await needed("nginx", "nginx-light");
  await needed("strace");
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
