import { runtimeSettings } from "./runtime-settings.ts";

// Where the executable begins. The runtime reads some of its settings only when it starts. What the script `petstore` gives it
// beforehand the executable gives itself, by starting once more: the same process, the same arguments.

const missing = Object.entries(runtimeSettings).filter(([name]) => !process.env[name]);
if (missing.length > 0)
  process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], {
    ...process.env,
    ...Object.fromEntries(missing),
  });
await import("./petstore.ts");
