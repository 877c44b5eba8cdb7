import { after, attempt } from "../core/after.ts";
import { Failure, fail } from "../core/failure.ts";
import { redacted } from "../core/key-format.ts";
import type { Awaitable } from "../core/ports.ts";
import { commonLines, jsonLine, refusal } from "./answer.ts";
import { isRead, replyOf } from "./handle.ts";
import type { Log } from "./log.ts";
import type { Page } from "./serve.ts";
import { type Listening, listen } from "./wire/listen.ts";
import { linesOf, type Reply } from "./wire/reply.ts";
import type { Incoming } from "./wire/request.ts";

/** Those who look are few. */
const MOST_CONNECTIONS = 100;

export interface PageServing {
  readonly host: string;
  readonly port: number;
  readonly pages: Readonly<Record<string, Page>>;
  readonly log: Log;
}

/** Serves pages on a port of their own: no API, no key, no limits, and nothing is counted. */
export function servePages({ host, port, pages, log }: PageServing): Listening {
  const answered = ({ method, pathname }: Incoming): Awaitable<Reply> => {
    const page = Object.hasOwn(pages, pathname) ? pages[pathname] : undefined;
    if (!page)
      fail(
        "not_found",
        `There is nothing at ${redacted(pathname).slice(0, 200)}. This port has ${Object.keys(pages).join(", ")}.`,
      );
    return isRead(method) ? after(page(), replyOf) : wrongMethod(pathname, method);
  };
  const refused = (error: unknown): Reply => {
    if (error instanceof Failure) return replyOf(refusal(error), commonLines, jsonLine);
    onFault(error);
    return replyOf(
      refusal(new Failure("internal_error", "Something went wrong on our side.")),
      commonLines,
      jsonLine,
    );
  };
  const onFault = (error: unknown) =>
    log.error("A page on a port of its own could not be made.", { cause: redacted(String(error)) });
  return listen({
    host,
    port,
    maxConnections: MOST_CONNECTIONS,
    // Who opens connections and asks for nothing keeps nobody from looking.
    makesRoom: true,
    isStopping: () => false,
    answer: (request) => attempt(answered, refused, request),
    refuse: refused,
    onCrowded: (closed) =>
      log.warn(
        "More connections came to a port for pages than it takes; those that only waited were closed.",
        {
          connections: closed,
          most: MOST_CONNECTIONS,
        },
      ),
    onFault,
  });
}

function wrongMethod(pathname: string, method: string): Reply {
  const allow = "GET, HEAD";
  const answer = refusal(
    new Failure("method_not_allowed", `${pathname} has no ${method}. It takes ${allow}.`),
  );
  return replyOf(answer, commonLines + linesOf({ allow }), jsonLine);
}
