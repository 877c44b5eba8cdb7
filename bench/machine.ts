import { existsSync, readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..");

/** What the figures depend on, as lines of name and value. */
export async function surroundings(): Promise<[string, string][]> {
  const model = cpus()[0]?.model ?? "unknown";
  const { dependencies, optionalDependencies } = await Bun.file(join(import.meta.dir, "package.json")).json();
  const versions = Object.entries<string>({ ...dependencies })
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
  const node = Object.values<string>(optionalDependencies)[0];
  return [
    ["machine", `${cpus().length} cores, ${model}, ${Math.round(totalmem() / 1024 ** 3)} GiB`],
    ["system", `${type()} ${release()}, TCP ${congestionControl()}`],
    ["runtimes", `Bun ${Bun.version}, Node ${node}`],
    ["peers", versions],
    ["tools", [said("wrk", "-v"), said("nginx", "-v")].join(", ")],
    ["commit", commit()],
  ];
}

/** The commit, and by what the files differ from it; the report itself is no part of what is measured. */
function commit(): string {
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", ...args], { cwd: root })
      .stdout.toString()
      .trim();
  const measured = ["--", ".", ":!bench/RESULTS.md", ":!bench/plots"];
  const changed = git("status", "--porcelain", ...measured) + git("diff", "HEAD", ...measured);
  const changes = changed === "" ? "" : `, with changes (${Bun.hash(changed).toString(36)})`;
  return `${git("rev-parse", "--short", "HEAD")}${changes}`;
}

/** How the kernel sends, which is part of what an answer costs; where no system tells, nothing is known of it. */
function congestionControl(): string {
  const file = "/proc/sys/net/ipv4/tcp_congestion_control";
  return existsSync(file) ? readFileSync(file, "utf8").trim() : "unknown";
}

function said(program: string, flag: string): string {
  const { stdout, stderr } = Bun.spawnSync([program, flag]);
  return /(wrk \w+\/|nginx\/)[\d.]+/.exec(`${stdout}${stderr}`)?.[0] ?? program;
}
