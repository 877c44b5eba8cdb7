import { writeSync } from "node:fs";
import { Command } from "commander";
import type { Config } from "../config.ts";
import { openLog } from "../http/log.ts";
import { type Running, start } from "../main.ts";
import { firstKey, type KeyPlace, keyPlace, prepare } from "./first-start.ts";
import { CannotListen } from "./say.ts";
import { configOf, withSettings } from "./settings.ts";

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
      await prepare(config, options.demo === true);
      const log = openLog(config.logLevel, process.stdout.isTTY === true, toStandardOutput, Date.now);
      const running = await listening(config, () => start(config, { clock: Date.now, log }));
      process.stderr.write(welcome(running.url, keyPlace(config, await firstKey(config))));
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

function welcome(url: string, { line, shell }: KeyPlace): string {
  return `
  Petstore is listening on ${url}

  admin key   ${line}
  try it      curl -H "X-API-Key: ${shell}" ${url}/pets
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
