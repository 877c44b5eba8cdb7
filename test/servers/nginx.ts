// nginx for the tests: found or installed, with the project's own configuration before instances that the test names.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { needed } from "../tools.ts";
import { aFreePort } from "./port.ts";

const CONFIGURATION = resolve(import.meta.dir, "../../deploy/nginx.conf");
/** Where Debian has it; the path of an ordinary user does not always lead there. */
const PROGRAM = "/usr/sbin/nginx";
const START_MS = 5000;

export interface Nginx extends AsyncDisposable {
  readonly url: string;
  /** One line for each request so far, as the configuration says. */
  requests(): Record<string, unknown>[];
  /** What it complained of. */
  complaints(): string;
}

/** Starts nginx on a free port of the loopback, before the instances with these addresses. */
export async function aNginx(instances: readonly string[]): Promise<Nginx> {
  const { folder, file, port } = await configured(instances);
  const out = join(folder, "out");
  const err = join(folder, "err");
  const child = Bun.spawn([PROGRAM, "-c", file, "-g", "daemon off;"], {
    stdout: Bun.file(out),
    stderr: Bun.file(err),
  });
  const url = `http://127.0.0.1:${port}`;
  const textOf = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");
  const nginx: Nginx = {
    url,
    requests: () =>
      textOf(out)
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    complaints: () => textOf(err),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  if (await listens(port, child)) return nginx;
  const said = nginx.complaints();
  await nginx[Symbol.asyncDispose]();
  throw new Error(`nginx did not start: ${said}`);
}

/** What `nginx -t` says of the project's configuration with these instances in it. */
export async function testedConfiguration(
  instances: readonly string[],
): Promise<{ code: number; said: string }> {
  const { folder, file } = await configured(instances);
  const { exitCode, stderr } = Bun.spawnSync([PROGRAM, "-t", "-c", file], { stdout: "ignore" });
  rmSync(folder, { recursive: true, force: true });
  return { code: exitCode, said: stderr.toString() };
}

/** Where nginx is; it is installed if it is missing. */
export async function nginxProgram(): Promise<string> {
  if (!existsSync(PROGRAM)) await needed(PROGRAM, "nginx");
  return PROGRAM;
}

async function configured(instances: readonly string[]) {
  await nginxProgram();
  const folder = mkdtempSync(join(tmpdir(), "petstore-nginx-"));
  // Its workers run as another user, and write large bodies there.
  chmodSync(folder, 0o755);
  const port = aFreePort();
  const file = join(folder, "nginx.conf");
  await Bun.write(file, filledIn(readFileSync(CONFIGURATION, "utf8"), instances, port, folder));
  return { folder, file, port };
}

/** The configuration with other instances, another port and another folder, and otherwise as it is. */
function filledIn(text: string, instances: readonly string[], port: number, folder: string): string {
  const servers = /(?:^ +server petstore-\d+:8080 .*;\n)+/gm;
  // Every group of them is made anew after the model of its first.
  const group = ([first = ""]: string[]) =>
    instances.map((each) => first.replace(/petstore-\d+:8080/, new URL(each).host));
  return text
    .replace(servers, (lines) => group(lines.split(/(?<=\n)/)).join(""))
    .replace("listen 8080;", `listen 127.0.0.1:${port};`)
    .replaceAll("/tmp/nginx", join(folder, "nginx"));
}

async function listens(port: number, child: Bun.Subprocess): Promise<boolean> {
  const until = performance.now() + START_MS;
  while (performance.now() < until && child.exitCode === null) {
    try {
      const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
      socket.end();
      return true;
    } catch {
      await Bun.sleep(10);
    }
  }
  return false;
}
