import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildClient } from "../../client/build.ts";

const root = join(import.meta.dir, "../..");
export const bin = (name: string) => join(root, "node_modules/.bin", name);

/** A project of somebody who has installed the packed client. */
export interface Project extends Disposable {
  readonly folder: string;
  /** Where the package is. */
  readonly installed: string;
  /** The package as it would be published. */
  readonly tarball: string;
}

/** Builds and packs the client, and installs it into a new folder. */
export async function aProject(): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-consumer-"));
  const source = join(folder, "package");
  await buildClient(join(source, "dist"));
  for (const name of ["package.json", "README.md", "LICENSE"])
    cpSync(join(root, "client", name), join(source, name));
  const { stdout } = run(["npm", "pack", "--json", "--offline", "--pack-destination", folder], source);
  const tarball = join(folder, JSON.parse(stdout)[0].filename);
  const installed = join(folder, "node_modules/petstore-client");
  mkdirSync(installed, { recursive: true });
  run(["tar", "-xzf", tarball, "-C", installed, "--strip-components=1"], folder);
  rmSync(source, { recursive: true });
  const manifest = { type: "module", private: true, imports: { "#smoke": "./smoke.js" } };
  await Bun.write(join(folder, "package.json"), JSON.stringify(manifest));
  return {
    folder,
    installed,
    tarball,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs a program to its end; what it says if it fails is the error. */
export function run(
  command: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): { stdout: string; stderr: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd, env: { ...process.env, ...env } });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}:\n${stdout}\n${stderr}`);
  return { stdout: stdout.toString(), stderr: stderr.toString() };
}

/** Runs a program beside this one, so that a server in this process can answer it. */
export async function runBeside(
  command: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}:\n${stdout}\n${stderr}`);
  return stdout;
}
