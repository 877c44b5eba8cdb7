import { databaseFamilies } from "./families/database.ts";
import { limitFamilies } from "./families/limits.ts";
import { processFamilies } from "./families/process.ts";
import { requestFamilies } from "./families/requests.ts";
import { traceFamilies } from "./families/traces.ts";
import { webhookFamilies } from "./families/webhooks.ts";
import type { Family } from "./family.ts";

/** Every metric that there is; docs/OPERATING.md has the same table. */
export const families: readonly Family[] = [
  ...requestFamilies,
  ...limitFamilies,
  ...webhookFamilies,
  ...databaseFamilies,
  ...traceFamilies,
  ...processFamilies,
];
