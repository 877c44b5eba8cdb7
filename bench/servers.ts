import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FIRST_CORE } from "./load.ts";

/** A folder and the servers of one bench, all gone afterwards. */
export interface Bench extends Disposable {
  readonly folder: string;
  /** Starts a server on the first core; gives its address and its process. */
  start(
    command: readonly string[],
    env: Record<string, string>,
  ): Promise<{ url: string; pid: number; stop(): Promise<void> }>;
}

export function aBench(): Bench {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  const processes: Bun.Subprocess[] = [];
  return {
    folder,
    async start(command, env) {
      const files = ["out", "err"].map((end) => join(folder, `${processes.length}.${end}`));
      const pinned = ["taskset", "-c", FIRST_CORE, ...command];
      const [out, err] = files as [string, string];
      const child = Bun.spawn(pinned, {
        env: { ...process.env, ...env },
        stdout: Bun.file(out),
        stderr: Bun.file(err),
      });
      processes.push(child);
      for (let wait = 0; wait < 400; wait++) {
        for (const file of files) {
          const url = /(http:\/\/127[\d.:]+)/.exec(await Bun.file(file).text())?.[1];
          if (url) return { url, pid: child.pid, stop: () => stopped(child) };
        }
        await Bun.sleep(50);
      }
      throw new Error(`${command.join(" ")} did not start: ${await Bun.file(files[1] as string).text()}`);
    },
    [Symbol.dispose]() {
      for (const each of processes) each.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function stopped(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGTERM");
  await child.exited;
}
