import { memoryLimits } from "../../src/limits/memory.ts";
import { limitsConform } from "./conformance.ts";

limitsConform("memory", async (options) => ({ limits: memoryLimits(options), close: () => {} }));
