import type { Account, Role } from "../../client/src/index.ts";
import { hrefOf } from "./address.ts";
import { mayAct } from "./api.ts";
import { type Child, fill, h, once } from "./dom.ts";
import { noticePlaces } from "./notices.ts";

interface Entry {
  readonly path: string;
  readonly label: string;
  /** The least role that has a use for it. */
  readonly role: Role;
}

const shop: readonly Entry[] = [
  { path: "", label: "Overview", role: "customer" },
  { path: "pets", label: "Pets", role: "customer" },
  { path: "categories", label: "Categories", role: "customer" },
  { path: "orders", label: "Orders", role: "customer" },
  { path: "inventory", label: "Inventory", role: "customer" },
  { path: "events", label: "Live feed", role: "customer" },
];
const house: readonly Entry[] = [
  { path: "clients", label: "Clients", role: "admin" },
  { path: "bans", label: "Bans", role: "admin" },
  { path: "all-webhooks", label: "All webhooks", role: "admin" },
  { path: "audit", label: "Audit trail", role: "admin" },
  { path: "webhooks", label: "Webhooks", role: "customer" },
  { path: "account", label: "Account", role: "customer" },
];

export interface Frame {
  /** Where pages are shown. */
  readonly main: HTMLElement;
  /** Marks the page that is open, and folds the way there away. */
  mark(path: string): void;
}

/** What stays while pages come and go: the way around, and who is signed in. */
export function frame(account: Account, signOut: () => Promise<void>): Frame {
  const main = h("main", { id: "main", tabindex: "-1" });
  const links = new Map<string, HTMLAnchorElement>();
  const leave: HTMLElement = h(
    "button",
    { type: "button", class: "quiet", onclick: (): unknown => once(leave, signOut) },
    "Sign out",
  );
  const menu = h(
    "nav",
    { id: "menu", class: "menu", "aria-label": "Pages" },
    [shop, house].map((part) =>
      h(
        "ul",
        {},
        part
          .filter(({ role }) => mayAct(account, role))
          .map(({ path, label }) => {
            const link = h("a", { href: hrefOf(path), onclick: () => fold() }, label);
            links.set(path, link);
            return h("li", {}, link);
          }),
      ),
    ),
    h(
      "p",
      { class: "who" },
      h("span", {}, account.client.name),
      h("span", { class: "soft" }, `${account.key.role} key …${account.key.lastFour}`),
    ),
    leave,
  );
  const toggle = h(
    "button",
    { type: "button", class: "menu-button quiet", "aria-expanded": "false", "aria-controls": "menu" },
    "Menu",
  );
  const fold = (isOpen = false) => {
    toggle.setAttribute("aria-expanded", String(isOpen));
    menu.classList.toggle("open", isOpen);
  };
  toggle.addEventListener("click", () => fold(toggle.getAttribute("aria-expanded") === "false"));
  const skip = h("a", { class: "skip", href: "#main", onclick: skipTo(main) }, "Skip to the content");
  fill(document.body, skip, h("header", { class: "bar" }, brand(), toggle), menu, main, noticePlaces());
  return {
    main,
    mark(path) {
      fold();
      for (const [each, link] of links) {
        if (each === path) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
    },
  };
}

export function brand(): Child {
  return h(
    "a",
    { class: "brand", href: hrefOf("") },
    h("img", { src: "console/icon.svg", alt: "", width: 28, height: 28 }),
    h("span", {}, "Petstore"),
  );
}

/** The address stays: it names the page. */
function skipTo(main: HTMLElement): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    main.focus();
  };
}
