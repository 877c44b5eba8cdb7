// The real command as its users run it: a process of its own, a folder of its own, nothing inherited.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const PETSTORE = resolve(import.meta.dir, "../../petstore");

export interface Folder extends Disposable {
  readonly path: string;
  readonly database: string;
  file(name: string): string;
}

/** A temporary folder that goes away with its scope. */
export function aFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), "petstore-cli-"));
  return {
    path,
    database: join(path, "data/petstore.db"),
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

type Env = Readonly<Record<string, string>>;

/** The little that a new user's shell has; no setting of the machine that runs the tests leaks in. */
function bareEnv(env: Env): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/", ...env };
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Asked {
  readonly env?: Env;
  /** The folder that it is run in. */
  readonly in?: string;
}

/** Runs `petstore` with these arguments to its end. */
export function petstore(args: readonly string[], asked: Asked = {}): Promise<Ended> {
  return run([PETSTORE, ...args], asked);
}

/** Runs a program to its end; one that takes longer than 15 s is killed and its code is not 0. */
export async function run(command: readonly string[], { env = {}, in: cwd }: Asked = {}): Promise<Ended> {
  const child = Bun.spawn([...command], {
    env: bareEnv(env),
    ...(cwd !== undefined && { cwd }),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 15_000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

export interface Served extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Sends a signal and gives the exit code; more than 128 is a signal's. */
  end(signal: "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGKILL"): Promise<number>;
}

export interface Serving extends Asked {
  readonly args?: readonly string[];
  /** What is put before the command, such as a tracer. */
  readonly under?: readonly string[];
  /** Another program that says in the same words where it listens. */
  readonly command?: readonly string[];
  readonly database: string;
}

/** Starts `petstore serve` on a free port and waits until it listens. */
export async function serving({
  args = [],
  under = [],
  command = [PETSTORE, "serve", ...args],
  env = {},
  in: cwd,
  database,
}: Serving): Promise<Served> {
  const child = Bun.spawn([...under, ...command], {
    env: bareEnv({ DATABASE_URL: database, PORT: "0", ...env }),
    ...(cwd !== undefined && { cwd }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stdout = gathered(child.stdout);
  const stderr = gathered(child.stderr);
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await settled(child.exited, 15_000, () => child.kill("SIGKILL"));
    await Promise.all([stdout.ended, stderr.ended]);
    return child.exitCode ?? 128;
  };
  const listens = /listening on (http:\/\/\S+)/;
  const isUp = await eventually(() => listens.test(stderr.text()) || child.exitCode !== null, 20_000);
  const url = listens.exec(stderr.text())?.[1];
  if (!isUp || url === undefined) {
    await end("SIGKILL");
    throw new Error(`petstore serve did not start: ${stderr.text()}${stdout.text()}`);
  }
  return {
    url,
    pid: child.pid,
    stdout: stdout.text,
    stderr: stderr.text,
    end,
    [Symbol.asyncDispose]: async () => void (await end("SIGKILL")),
  };
}

/** Looks again and again, for at most so long, and says whether it came true. */
export async function eventually(
  isTrue: () => boolean | Promise<boolean>,
  withinMs: number,
): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    if (await isTrue()) return true;
    await Bun.sleep(5);
  }
  return isTrue();
}

/** The admin key that a first start left beside the database. */
export function adminKey(folder: Folder): string {
  return readFileSync(folder.file("data/admin.key"), "utf8").trim();
}

function gathered(stream: ReadableStream<Uint8Array>): { text: () => string; ended: Promise<void> } {
  let text = "";
  const decoder = new TextDecoder();
  const read = async () => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  };
  return { text: () => text, ended: read() };
}

async function settled(exited: Promise<number>, withinMs: number, orElse: () => void): Promise<void> {
  const timer = setTimeout(orElse, withinMs);
  await exited;
  clearTimeout(timer);
}
