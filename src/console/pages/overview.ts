import type { Account, Limits, Usage } from "../../../client/src/index.ts";
import { hrefOf } from "../address.ts";
import { mayAct, petstore } from "../api.ts";
import { type Child, h } from "../dom.ts";
import { learnPets, petLink } from "../names.ts";
import { heading, type Page, section, type Visit } from "../visit.ts";
import { count, some } from "../words.ts";
import { usagePlots } from "./usage.ts";

const FEW = 5;
const LAST_UNITS = 1;
const DAY_MS = 86_400_000;
const ranges = [7, 30, 90] as const;

export const overviewPage: Page = { title: "Overview", show };

async function show({ account, query, signal }: Visit): Promise<Child> {
  const days = ranges.find((each) => String(each) === query.get("days")) ?? 30;
  const isOfAll = mayAct(account, "admin") && query.get("of") !== "own";
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const [limits, usage, attention] = await Promise.all([
    petstore.account.limits({ signal }),
    isOfAll ? petstore.admin.usage({ from }, { signal }) : petstore.account.usage({ from }, { signal }),
    mayAct(account, "staff") ? needed(signal) : null,
  ]);
  return [
    heading("Overview"),
    attention,
    section("Your requests now", meters(account, limits)),
    section(
      isOfAll ? "Requests of all clients" : `Requests of ${account.client.name}`,
      h(
        "nav",
        { class: "choices", "aria-label": "What is plotted" },
        ranges.map((each) =>
          choice(some(each, "day"), { days: each, of: query.get("of") ?? undefined }, each === days),
        ),
        mayAct(account, "admin") && [
          choice("all clients", { days }, isOfAll),
          choice("own client", { days, of: "own" }, !isOfAll),
        ],
      ),
      total(usage, days),
      usagePlots(usage, isOfAll ? undefined : account.client.perDay),
    ),
  ];
}

function choice(
  label: string,
  query: Readonly<Record<string, string | number | undefined>>,
  isChosen: boolean,
): Child {
  return h("a", { href: hrefOf("", query), "aria-current": isChosen ? "true" : undefined }, label);
}

function total({ total: each }: Usage, days: number): Child {
  const sum = each.reduce((all, value) => all + value, 0);
  return h(
    "p",
    { class: "soft" },
    `${some(sum, "request")} in ${some(days, "day")}, ${count(each.at(-1) ?? 0)} of them today.`,
  );
}

/** How much of both windows is used, and how the key stands. */
function meters({ key }: Account, { minute, day, strikes, bannedUntil }: Limits): Child {
  const meter = (name: string, { limit, remaining, resetAt }: Limits["minute"]) => {
    const used = limit - remaining;
    const until = new Date(resetAt * 1000).toLocaleTimeString(undefined, { timeStyle: "short" });
    return h(
      "div",
      { class: "card" },
      h("h3", {}, name),
      h("p", { class: "figure" }, count(used), h("span", { class: "soft" }, ` of ${count(limit)}`)),
      h(
        "meter",
        { min: 0, max: limit, low: limit * 0.8, high: limit * 0.95, optimum: 0, value: used },
        `${used} of ${limit}`,
      ),
      h("p", { class: "soft" }, `Starts anew at ${until}`),
    );
  };
  return h(
    "div",
    { class: "cards" },
    meter("This minute", minute),
    meter("Today (UTC)", day),
    h(
      "div",
      { class: "card" },
      h("h3", {}, "Strikes of this key"),
      h(
        "p",
        { class: "figure" },
        count(strikes.count),
        h("span", { class: "soft" }, ` of ${strikes.threshold}`),
      ),
      h(
        "p",
        { class: "soft" },
        bannedUntil === undefined
          ? `${count(strikes.threshold)} within ${some(strikes.windowSeconds / 60, "minute")} ${strikes.threshold === 1 ? "bans" : "ban"} the ${key.role} key for a time.`
          : `Banned until ${new Date(bannedUntil).toLocaleString()}.`,
      ),
    ),
  );
}

/** What staff would want to look at first. */
async function needed(signal: AbortSignal): Promise<Child> {
  const [open, low] = await Promise.all([
    petstore.orders.list({ complete: false, limit: FEW }, { signal }),
    petstore.inventory.list({ status: ["available"], maxQuantity: LAST_UNITS, limit: FEW }, { signal }),
  ]);
  await learnPets(
    [...open, ...low].map(({ petId }) => petId),
    signal,
  );
  const orders = open.map(({ id, petId, quantity }) => [
    `Order ${id}: `,
    petId === undefined ? "a draft" : [`${quantity ?? 1} × `, petLink(petId)],
  ]);
  const last = low.map(({ petId, quantity }) => [petLink(petId), `: ${quantity} left`]);
  const running = hrefOf("inventory", { status: "available", maxQuantity: LAST_UNITS });
  return h(
    "div",
    { class: "cards" },
    card("Open orders", orders, "None: every order is complete.", [
      open.hasNext ? "All open orders" : "To the orders",
      hrefOf("orders", { complete: "false" }),
    ]),
    card("Last ones", last, "Nothing is about to run out.", ["To the inventory", running]),
  );
}

/** A few lines, or a word where there are none, and the way to all of them. */
function card(
  title: string,
  lines: readonly Child[],
  none: string,
  [label, href]: readonly [label: string, href: string],
): HTMLElement {
  return h(
    "section",
    { class: "card" },
    h("h2", {}, title),
    lines.length === 0 && h("p", { class: "soft" }, none),
    h(
      "ul",
      { class: "lines" },
      lines.map((line) => h("li", {}, line)),
    ),
    h("p", {}, h("a", { href }, label)),
  );
}
