import type { Role } from "../contract/route.ts";
import type { ReadContext } from "./context.ts";

/** Whether a key of this role sees what concerns any client. */
export function seesAll(role: Role): boolean {
  return role !== "customer";
}

/** The one client of which the caller is shown something; left out: all. */
export function clientSeen({ caller }: Pick<ReadContext, "caller">): number | undefined {
  return seesAll(caller.role) ? undefined : caller.clientId;
}
