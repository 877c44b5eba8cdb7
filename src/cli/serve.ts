import { Command } from "commander";
import type { Config } from "../config.ts";
import { causeOf } from "../core/failure.ts";
import { LINK_MS } from "../core/sessions.ts";
import { openLog } from "../http/log.ts";
import { type Running, start } from "../main.ts";
import { NotListening } from "../wiring/listening.ts";
import { firstKey, type KeyPlace, prepare } from "./first-start.ts";
import { standardOutput } from "./output.ts";
import { CannotListen } from "./say.ts";
import { configOf, withSettings } from "./settings.ts";

/** `petstore serve`: the server, until it is told to stop. */
export function serveCommand(stop: Promise<void>): Command {
  const command = new Command("serve")
    .description("Start the server.")
    .option("--demo", "Load a small catalogue if the store is empty.")
    .addHelpText(
      "after",
      "\nExamples:\n  petstore serve --demo\n  PORT=9000 petstore serve\n  petstore serve --host 0.0.0.0 --port 80",
    )
    .action(async (options: { demo?: true }) => {
      const config = configOf(options);
      const log = openLog(config.logLevel, process.stdout.isTTY === true, standardOutput(), Date.now);
      const end = async (running?: Running) => {
        log.info("stopping");
        await running?.stop();
        log.flush();
        process.exit(0);
      };
      // Until it listens a stop has nothing to wait for: what is half done is undone by the database.
      using held = await Promise.race([prepare(config, options.demo === true), stop.then(() => null)]);
      if (!held) return end();
      const running = await Promise.race([
        listening(() => start(config, { clock: Date.now, log })),
        stop.then(() => null),
      ]);
      if (!running) return end();
      process.on("unhandledRejection", (error) =>
        log.error("A fault that no request waits for.", { cause: causeOf(error) }),
      );
      // It answers already, so a stop does not wait for the key.
      await Promise.race([orStop(running, () => welcomed(config, running)), stop]);
      const { url, metricsUrl } = running;
      log.info("started", { url, ...(metricsUrl !== null && { metricsUrl }) });
      await stop;
      await end(running);
    });
  return withSettings(command);
}

async function welcomed(config: Config, running: Running): Promise<void> {
  const key = await firstKey(config, fromHere(running.url));
  process.stderr.write(welcome(running, key, config.console));
}

/** Every address of the machine is none to go to: from the machine itself it is the loopback. */
function fromHere(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//localhost:");
}

function welcome(
  { url: listeningOn, metricsUrl }: Running,
  { line, shell, link }: KeyPlace,
  hasConsole: boolean,
): string {
  const url = fromHere(listeningOn);
  const signIn =
    link === undefined ? "" : `  sign in     ${link}  (works once, within ${LINK_MS / 60_000} minutes)\n`;
  const webConsole = hasConsole ? `  console     ${url}/console\n${signIn}` : "";
  const metrics = metricsUrl === null ? "" : `  metrics     ${fromHere(metricsUrl)}\n`;
  return `
  Petstore is listening on ${listeningOn}

  admin key   ${line}
  try it      curl -H "X-API-Key: ${shell}" ${url}/pets
${webConsole}  docs        ${url}/docs
  document    ${url}/openapi.json
${metrics}  stop        Ctrl-C
`;
}

/** A server whose first key cannot be handed over is of no use: it stops, and says why. */
async function orStop<T>(running: Running, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await running.stop();
    throw error;
  }
}

async function listening(run: () => Promise<Running>): Promise<Running> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof NotListening)) throw error;
    const { host, port } = error.place;
    const setting = `${error.prefix}PORT`;
    const flag = `--${setting.toLowerCase().replace("_", "-")}`;
    const { code, message } = error.cause as { code?: unknown; message?: string };
    const at = `${host}:${port}`;
    if (code === "EADDRINUSE") {
      throw new CannotListen(
        `${at} is taken by another program. Stop it, or choose another port: ${flag} ${port + 1} or ${setting}=${port + 1}.`,
      );
    }
    if (code === "EACCES")
      throw new CannotListen(
        `${at} may not be listened on by this user. Choose a port above 1023: ${flag} 8080.`,
      );
    // A name that nothing resolves has this code or none.
    const isUnknown = code === "ENOTFOUND" || (code === undefined && message?.startsWith("Failed to listen"));
    if (code === "EADDRNOTAVAIL" || isUnknown)
      throw new CannotListen(
        `${host} is no address of this machine. Choose another: ${flag.replace("port", "host")} 127.0.0.1.`,
      );
    throw error.cause;
  }
}
