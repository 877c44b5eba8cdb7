import {
  ApiError,
  ConnectionError,
  type ErrorCode,
  type PetStatus,
  PetstoreError,
  PreconditionFailedError,
  RateLimitError,
} from "../../client/src/index.ts";
import { type Child, h } from "./dom.ts";
import { Misentered } from "./fields.ts";

const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const dateToTheSecond = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const number = new Intl.NumberFormat();

/** A number as people write it. */
export function count(value: number): string {
  return number.format(value);
}

/** `3 pets`, `1 pet`. */
export function some(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A time in the reader's own zone, exact on hovering; nothing if there is none. */
export function time(iso: string | undefined): Child {
  return shownTime(iso, date);
}

/** The same with its seconds, where people compare it with a log of their own. */
export function timeToTheSecond(iso: string | undefined): Child {
  return shownTime(iso, dateToTheSecond);
}

function shownTime(iso: string | undefined, form: Intl.DateTimeFormat): Child {
  return iso === undefined ? none() : h("time", { datetime: iso, title: iso }, form.format(new Date(iso)));
}

/** A place without a value. */
export function none(): Child {
  return h("span", { class: "none", title: "none" }, "–");
}

/** A status as a coloured word: the word says it all, the colour only helps. */
export function badge(word: string, tone: Tone = toneOf(word)): HTMLElement {
  return h("span", { class: `badge ${tone}` }, word);
}

export type Tone = "good" | "wait" | "bad" | "calm";

const tones: Readonly<Record<string, Tone>> = {
  available: "good",
  pending: "wait",
  sold: "calm",
  open: "wait",
  complete: "good",
  draft: "calm",
  delivered: "good",
  failed: "bad",
  failing: "wait",
  active: "good",
  suspended: "bad",
  banned: "bad",
  revoked: "calm",
  expired: "calm",
};

function toneOf(word: string): Tone {
  return tones[word] ?? "calm";
}

export const statuses: readonly PetStatus[] = ["available", "pending", "sold"];
/** For narrowing a list. */
export const statusChoices = [["", "any"], ...statuses.map((each) => [each, each] as const)] as const;

/** What went wrong, for the one who is at the screen. */
export function explained(error: unknown): string {
  if (error instanceof PreconditionFailedError)
    return "Somebody else changed this in the meantime, and nothing was done.";
  if (error instanceof ConnectionError)
    return "The server could not be reached, or did not answer. Nothing you entered is lost: try again.";
  if (error instanceof RateLimitError) {
    const back = new Date(Date.now() + (error.retryAfterSeconds ?? 0) * 1000);
    return `${error.message.split(". ")[0]}. Come back after ${date.format(back)}.`;
  }
  if (error instanceof ApiError) {
    const isOurs = error.status >= 500 && error.requestId !== undefined;
    return isOurs ? `${error.message} (request ${error.requestId})` : forPeople(error);
  }
  return error instanceof Error ? error.message : String(error);
}

/** What to do about a refusal; what the API says of that is for programs. */
const advice: Readonly<Partial<Record<ErrorCode, string>>> = {
  insufficient_stock: "Ask for fewer, or have the stock set first.",
  pet_not_found: "It may have been removed meanwhile.",
  unknown_pet: "It may have been removed meanwhile.",
  category_in_use: "Move its pets to another category or remove them first.",
  webhook_not_found: "It may have been removed meanwhile.",
  webhook_disabled: "Enable it first.",
  key_banned: "Wait until then, or ask an admin to lift the ban.",
};

/** A refusal without the sentences that name requests, and with times of the reader's own zone. */
export function forPeople({ message, code }: Pick<ApiError, "message" | "code">): string {
  const sentences = message
    .split(/(?<=\.) /)
    .filter((each) => !/\b(GET|POST|PUT|PATCH|DELETE) \//.test(each));
  const words = sentences.length > 0 ? sentences.join(" ") : message;
  const local = words.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (iso) => date.format(new Date(iso)));
  return [local, code && advice[code]].filter(Boolean).join(" ");
}

/** Whether the same may be answered otherwise another time, or after signing in; other refusals stay as they are. */
export function canTryAgain(error: unknown): boolean {
  const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500;
  // A feed whose next event is gone begins anew.
  if (error instanceof Misentered) return false;
  return !isRefused || [401, 408, 412, 429].includes(error.status) || error.code === "events_expired";
}

/** Ends the requests of a session; unlike an abort it is not taken for a lost connection, and so not tried again. */
export class SessionEnded extends PetstoreError {
  override readonly name = "SessionEnded";
}

/** Whoever wanted it does not any more, and it was not sent. */
export class GivenUp extends PetstoreError {
  override readonly name = "GivenUp";
}

/** Whether it only says that nobody waits for the answer any more. */
export function isAbort(error: unknown): boolean {
  const isOver = error instanceof SessionEnded || error instanceof GivenUp;
  return isOver || (error instanceof DOMException && error.name === "AbortError");
}
