// Programs that the tests start: found on the machine, or installed where that can be done.
import { existsSync, rmSync, writeFileSync } from "node:fs";

/** Debian asks this file whether a package may start its service. */
const SERVICE_POLICY = "/usr/sbin/policy-rc.d";

/** Makes sure that a program is there: as root on Debian it is installed, elsewhere it is asked for. */
export async function needed(program: string, debianPackage = program): Promise<void> {
  if (Bun.which(program)) return;
  if (process.getuid?.() !== 0 || !Bun.which("apt-get")) {
    throw new Error(
      `The tests need ${program}. Install it (Debian: apt-get install ${debianPackage}) and run them again.`,
    );
  }
  console.log(`Installing ${debianPackage} for the tests ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // The tests start servers themselves; none is to run beside them.
  const isOurs = !existsSync(SERVICE_POLICY);
  if (isOurs) writeFileSync(SERVICE_POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    for (const command of [
      ["apt-get", "update", "-qq"],
      ["apt-get", "install", "-y", "-qq", debianPackage],
    ]) {
      const { exitCode, stderr } = Bun.spawnSync(command, { env });
      if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stderr.toString()}`);
    }
  } finally {
    if (isOurs) rmSync(SERVICE_POLICY);
  }
}
