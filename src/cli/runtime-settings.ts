/** What the runtime reads only when it starts; the script `petstore` has the same. See docs/decisions/start-and-memory.md. */
export const runtimeSettings = {
  BUN_JSC_heapGrowthMaxIncrease: "1",
  BUN_JSC_smallHeapSize: "4194304",
  BUN_JSC_thresholdForJITAfterWarmUp: "5000",
  BUN_JSC_useWarmUpMarkedBlocks: "0",
  MIMALLOC_PURGE_DELAY: "5000",
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "5000",
};
