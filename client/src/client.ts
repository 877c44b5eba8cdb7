import { type Resources, routes } from "./api.ts";
import { callOf, listOf } from "./call.ts";
import { type ChangeOptions, type PetstoreOptions, settingsOf } from "./options.ts";
import { pacing, unpaced } from "./pace.ts";
import { type Send, sender } from "./request.ts";
import { type Route, routeOf } from "./route.ts";
import { type Follow, follower } from "./stream.ts";

/** How an operation is reached. */
interface Ways {
  readonly send: Send;
  readonly follow: Follow;
}

interface Routes {
  readonly [name: string]: string | Routes;
}

/** A client of the Petstore API: its operations by their names, such as `client.orders.place({ petId: 7 })`. */
export type Petstore = Resources;

/** Makes a client. All its calls share one pace, so one for each API key is best. */
export const Petstore: new (options: PetstoreOptions) => Petstore = class {
  constructor(options: PetstoreOptions) {
    const settings = settingsOf(options);
    const pace = settings.pace ? pacing(settings) : unpaced;
    const send = sender(settings, pace);
    Object.assign(this, methodsOf(routes, "", { send, follow: follower(settings, pace, send) }));
  }
} as new (
  options: PetstoreOptions,
) => Petstore;

/** The tree of operations, from the tree of routes. */
function methodsOf(branch: Routes, prefix: string, ways: Ways): object {
  return Object.fromEntries(
    Object.entries(branch).map(([name, entry]) => [
      name,
      typeof entry === "string"
        ? methodOf(routeOf(prefix + name, entry), ways)
        : methodsOf(entry, `${prefix}${name}.`, ways),
    ]),
  );
}

/** Path parameters first, then the body or the query, then the options. */
function methodOf(route: Route, { send, follow }: Ways): (...given: unknown[]) => unknown {
  return (...given) => {
    const ids = given.splice(0, route.names.length);
    const input = route.takesInput ? given.shift() : undefined;
    const options = (given.shift() ?? {}) as ChangeOptions;
    if (route.isStream) return follow({ route, ids, input, options });
    if (!route.isList) return callOf(send({ route, ids, input, options }));
    return listOf((cursor) => {
      const asked = cursor === undefined ? input : { ...(input as object), cursor };
      return send<unknown[]>({ route, ids, input: asked, options });
    }, options.signal);
  };
}
