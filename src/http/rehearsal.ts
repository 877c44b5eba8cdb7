import type { BanRules } from "../core/bans.ts";
import { Failure, fail } from "../core/failure.ts";
import type { LimitState } from "../core/windows.ts";
import { type Answer, refusal } from "./answer.ts";
import type { Prepared } from "./endpoint.ts";
import { banned, rateLines, tooManyRequests } from "./rates.ts";
import { linesOf } from "./wire/reply.ts";

const STOCK_OPERATIONS = new Set(["orders.place", "orders.update"]);

/** What a rehearsal needs to know of the request. */
export interface Scene {
  readonly endpoint: Prepared;
  readonly state: LimitState;
  readonly now: number;
  readonly bans: BanRules;
  readonly sunset: () => Failure;
}

/** The value of `Prefer: simulate=...`, if it is there. */
export function rehearsalOf(prefer: string | null): string | undefined {
  const asked = prefer === null ? null : /(?:^|[,;\s])simulate(?![\w-])(?:="?([\w-]*)"?)?/i.exec(prefer);
  return asked ? (asked[1] ?? "").toLowerCase() : undefined;
}

/** Answers as the real thing would, so that integrators can prove how they behave; nothing changes and nothing is held against them. */
export function rehearse(wanted: string, scene: Scene): Answer {
  const play = Object.hasOwn(plays, wanted) ? plays[wanted] : undefined;
  if (!play) refuse(wanted, `knows ${Object.keys(plays).join(", ")}`);
  const answer = play(scene);
  if (!answer) refuse(wanted, `cannot be ${wanted} on ${scene.endpoint.route.at}`);
  const appliedLine = linesOf({ "preference-applied": `simulate=${wanted}` });
  return { ...answer, headerLines: answer.headerLines + appliedLine };
}

type Play = (scene: Scene) => Answer | null;

const plays: Readonly<Record<string, Play | undefined>> = {
  rate_limit: (scene) => spent(scene, "minute"),
  daily_quota: (scene) => spent(scene, "day"),
  ban: ({ now, bans }) => banned(now + (bans.minutes[0] as number) * 60_000, now),
  unavailable: () =>
    refusal(new Failure("unavailable", "The data store is not available. Repeat the request later.")),
  sunset: ({ endpoint, sunset }) => (endpoint.successor ? refusal(sunset()) : null),
  insufficient_stock: ({ endpoint }) =>
    STOCK_OPERATIONS.has(endpoint.id)
      ? refusal(
          new Failure(
            "insufficient_stock",
            "Asked for 1 of pet 1, 0 in stock. Staff restock with PUT /store/inventory/1.",
          ),
        )
      : null,
};

/** As if the window had nothing left: the headers say so too. */
function spent({ state, now }: Scene, window: "minute" | "day"): Answer {
  const played = { ...state, [window]: { ...state[window], remaining: 0 } };
  const seconds = Math.floor(now / 1000);
  return {
    ...tooManyRequests(played, window, seconds),
    rateLines: rateLines(played, seconds, played[window]),
  };
}

function refuse(wanted: string, why: string): never {
  const message = `simulate=${wanted}: a rehearsal ${why}`;
  fail("invalid_parameter", `The header Prefer asks for ${message}.`, [{ field: "Prefer", message }]);
}
