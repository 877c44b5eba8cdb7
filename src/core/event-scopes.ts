import { catalogueEvents, clientEvents, type EventType } from "../contract/event-types.ts";

/** Events are of the catalogue or of a client by their type. */
export interface EventScopes {
  readonly catalogue: readonly EventType[];
  readonly client: readonly EventType[];
}

/** These types, or all, by whom they concern; each once. */
export function eventScopes(types?: readonly EventType[]): EventScopes {
  if (!types) return { catalogue: catalogueEvents, client: clientEvents };
  const wanted = new Set(types);
  const among = (all: readonly EventType[]) => all.filter((type) => wanted.has(type));
  return { catalogue: among(catalogueEvents), client: among(clientEvents) };
}
