import type { Account, Role } from "../../client/src/index.ts";
import { mayAct } from "./api.ts";
import { h } from "./dom.ts";
import { accountPage } from "./pages/account.ts";
import { allWebhooksPage } from "./pages/all-webhooks.ts";
import { anyWebhookPage } from "./pages/any-webhook.ts";
import { auditPage } from "./pages/audit.ts";
import { bansPage } from "./pages/bans.ts";
import { categoriesPage } from "./pages/categories.ts";
import { clientPage } from "./pages/client.ts";
import { clientsPage } from "./pages/clients.ts";
import { deliveryPage } from "./pages/delivery.ts";
import { eventsPage } from "./pages/events.ts";
import { inventoryPage } from "./pages/inventory.ts";
import { ordersPage } from "./pages/orders.ts";
import { overviewPage } from "./pages/overview.ts";
import { petPage } from "./pages/pet.ts";
import { petsPage } from "./pages/pets.ts";
import { webhookPage } from "./pages/webhook.ts";
import { webhooksPage } from "./pages/webhooks.ts";
import { heading, type Page } from "./visit.ts";

/** Every page by its address, with the least role that may open it; `1` stands for a record's number. */
const pages: Readonly<Record<string, readonly [role: Role, page: Page]>> = {
  "": ["customer", overviewPage],
  pets: ["customer", petsPage],
  "pets/1": ["customer", petPage],
  categories: ["customer", categoriesPage],
  orders: ["customer", ordersPage],
  inventory: ["customer", inventoryPage],
  events: ["customer", eventsPage],
  webhooks: ["customer", webhooksPage],
  "webhooks/1": ["customer", webhookPage],
  "webhooks/1/deliveries/1": ["customer", deliveryPage],
  account: ["customer", accountPage],
  clients: ["admin", clientsPage],
  "clients/1": ["admin", clientPage],
  bans: ["admin", bansPage],
  "all-webhooks": ["admin", allWebhooksPage],
  "all-webhooks/1": ["admin", anyWebhookPage],
  audit: ["admin", auditPage],
};

export function pageAt(parts: readonly string[], account: Account): Page {
  const [role, page] = pages[parts.map((part) => part.replace(/^\d{1,15}$/, "1")).join("/")] ?? [];
  if (!role || !page) return nowhere;
  return mayAct(account, role) ? page : notForYou;
}

const nowhere: Page = {
  title: "Not found",
  show: () => [heading("Not found"), h("p", {}, "There is no such page. The menu has all there are.")],
};

const notForYou: Page = {
  title: "Not for this key",
  show: ({ account }) => [
    heading("Not for this key"),
    h("p", {}, `This page needs an admin's key; you are signed in with one of the role ${account.key.role}.`),
  ],
};
