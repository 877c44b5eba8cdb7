// Starts the server as `petstore serve` does, and notes when each step was done.
const now = () => performance.timeOrigin + performance.now();
const steps: [string, number][] = [["process", now()]];
const done = (step: string) => steps.push([step, now()]);

const { openLog } = await import("../src/http/log.ts");
const { start } = await import("../src/main.ts");
const { readConfig } = await import("../src/config.ts");
const { prepare } = await import("../src/cli/first-start.ts");
done("imports");
const config = readConfig({ ...process.env, PORT: "0" });
await prepare(config, false);
done("database");
const log = openLog("info", false, () => {}, Date.now);
const running = await start(config, { clock: Date.now, log });
done("listening");
await Bun.write(process.env.STEPS as string, JSON.stringify(steps));
console.error(running.url);
process.once("SIGTERM", async () => {
  await running.stop();
  process.exit(0);
});

export {};
