// Where the executable begins. The runtime reads some of its settings only when it starts. What the script `petstore` gives it
// beforehand the executable gives itself, by starting once more: the same process, the same arguments.

/** See docs/decisions/start-and-memory.md. */
const GROWTH = "BUN_JSC_heapGrowthMaxIncrease";

if (!process.env[GROWTH])
  process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], {
    ...process.env,
    [GROWTH]: "0.6",
  });
await import("./petstore.ts");

export {};
