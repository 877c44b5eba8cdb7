import { existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { Command } from "commander";
import { type Config, rulesOf } from "../config.ts";
import { operator } from "../core/clients.ts";
import { loadDemo } from "../core/demo.ts";
import { KEY_BYTES } from "../core/key-format.ts";
import { perform } from "../core/perform.ts";
import { openLog } from "../http/log.ts";
import { type Running, start } from "../main.ts";
import { CannotListen } from "./say.ts";
import { configOf, openDatabase, withSettings } from "./settings.ts";

/** `petstore serve`: the server. */
export function serveCommand(): Command {
  const command = new Command("serve")
    .description("Start the server.")
    .option("--demo", "Load a small catalogue if the store is empty.")
    .addHelpText(
      "after",
      "\nExamples:\n  petstore serve --demo\n  PORT=9000 petstore serve\n  petstore serve --host 0.0.0.0 --port 80",
    )
    .action(async (options: { demo?: true }) => {
      const config = configOf(options);
      const firstKey = await prepare(config, options.demo === true);
      const log = openLog(config.logLevel, process.stdout.isTTY === true, toStandardOutput, Date.now);
      const running = await listening(config, () => start(config, { clock: Date.now, log }));
      process.stderr.write(welcome(running.url, keyPlace(config, firstKey)));
      log.info("started", { url: running.url });
      process.on("unhandledRejection", (error) =>
        log.error("A fault that no request waits for.", { cause: String(error) }),
      );
      await stopSignal();
      log.info("stopping");
      await running.stop();
      process.exit(0);
    });
  return withSettings(command);
}

/** Tables, the first admin key and the demo catalogue: what a first start needs. Gives the key if one was made. */
async function prepare(config: Config, isDemo: boolean): Promise<string | undefined> {
  const { reads, transact, close } = openDatabase(config, Date.now());
  const rules = rulesOf(config);
  const now = Date.now();
  try {
    const isFirst = (await reads.keys(null)).length === 0;
    return await transact(async (store) => {
      const { id: clientId } = await operator(store, now);
      if (isDemo && (await store.isEmpty())) await loadDemo(store, clientId, rules, now);
      if (!isFirst) return undefined;
      const random = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
      const input = { clientId, body: { role: "admin", name: "first admin key" } };
      const command = {
        operation: "admin.keys.create",
        caller: { clientId, keyId: 0, role: "admin" as const },
        input,
        now,
        random,
      };
      return ((await perform(store, command, rules)).body as { key: string }).key;
    });
  } finally {
    close();
  }
}

interface KeyPlace {
  readonly line: string;
  readonly curl: string;
}

/** Where the first admin key can be had: on the terminal this once, or in a file that only the owner reads. */
function keyPlace(config: Config, key: string | undefined): KeyPlace {
  const file = join(dirname(config.databaseUrl), "admin.key");
  const shown = relative(process.cwd(), file);
  if (key !== undefined && process.stderr.isTTY) return { line: `${key}  (shown this once)`, curl: key };
  if (key !== undefined) writeFileSync(file, `${key}\n`, { mode: 0o600 });
  if (existsSync(file) && readFileSync(file, "utf8").startsWith("ps_live_"))
    return { line: `in ${shown}`, curl: `$(cat ${shown})` };
  return {
    line: "shown at the first start; for a new one: ./petstore keys create --role admin",
    curl: "<API_KEY>",
  };
}

function welcome(url: string, { line, curl }: KeyPlace): string {
  return `
  Petstore is listening on ${url}

  admin key   ${line}
  try it      curl -H "X-API-Key: ${curl}" ${url}/pets
  docs        ${url}/docs
  document    ${url}/openapi.json
  stop        Ctrl-C
`;
}

async function listening(config: Config, run: () => Promise<Running>): Promise<Running> {
  try {
    return await run();
  } catch (error) {
    const { code } = error as { code?: unknown };
    const at = `${config.host}:${config.port}`;
    if (code === "EADDRINUSE") {
      throw new CannotListen(
        `${at} is taken by another program. Stop it, or choose another port: --port ${config.port + 1} or PORT=${config.port + 1}.`,
      );
    }
    if (code === "EACCES")
      throw new CannotListen(
        `${at} may not be listened on by this user. Choose a port above 1023: --port 8080.`,
      );
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new CannotListen(
        `${config.host} is no address of this machine. Choose another: --host 127.0.0.1.`,
      );
    throw error;
  }
}

/** Nobody reading the log any more is no reason to stop serving. */
function toStandardOutput(text: string): void {
  try {
    writeSync(1, text);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== "EPIPE" && code !== "EAGAIN") throw error;
  }
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
}
