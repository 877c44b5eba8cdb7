import { everyEndpoint } from "../contract/api.ts";

/** Whether an operation changes who may do what; two of those at once could break a rule over several rows. */
export function changesAccess(id: string): boolean {
  return accessChanges.has(id);
}

const accessChanges = new Set(everyEndpoint.filter(({ route }) => route.access).map(({ id }) => id));
