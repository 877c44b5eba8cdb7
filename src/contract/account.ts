import {
  Account,
  accessIds,
  CreatedKey,
  Key,
  Keys,
  Limits,
  NewKey,
  Rotation,
  Usage,
  usageQuery,
} from "./access-shapes.ts";
import { exampleKey } from "./admin.ts";
import { QUESTIONS } from "./plans.ts";
import type { Api } from "./route.ts";
import { paging } from "./shapes.ts";

export const account = {
  get: {
    at: "GET /account",
    summary: "Who am I",
    description: "The client, its plan, and the key that asks.",
    role: "customer",
    returns: Account,
    kind: "plain",
    errors: [],
    example: {
      returns: {
        client: { id: 2, name: "Shop", plan: "pro", perMinute: 300, perDay: 10_000 },
        key: exampleKey,
      },
    },
  },
  usage: {
    at: "GET /account/usage",
    summary: "Requests of the client by day, operation and status",
    description: "Counted within a second. At most 92 days at once.",
    role: "customer",
    query: usageQuery,
    returns: Usage,
    kind: "plain",
    errors: [],
    example: {
      returns: {
        days: ["2026-11-14", "2026-11-15"],
        total: [12, 30],
        byOperation: { "pets.list": [12, 30] },
        byStatus: { "2xx": [12, 29], "4xx": [0, 1] },
      },
    },
  },
  limits: {
    at: "GET /account/limits",
    summary: "How the limits stand",
    description: `Costs nothing (${QUESTIONS.perMinute} a minute for each key), and works while the client is limited or the key banned.`,
    role: "customer",
    uncounted: true,
    returns: Limits,
    kind: "plain",
    errors: [],
    example: {
      returns: {
        minute: { limit: 60, remaining: 12, resetAt: 1794744060 },
        day: { limit: 1000, remaining: 640, resetAt: 1794787200 },
        strikes: { count: 3, threshold: 20, windowSeconds: 300, graceSeconds: 2 },
        banLevel: 0,
        nextBanMinutes: 5,
      },
    },
  },
  keys: {
    list: {
      at: "GET /account/keys",
      summary: "List the client's keys",
      description: "Keys of a role above the asking key's are not shown.",
      role: "customer",
      query: paging,
      returns: Keys,
      kind: "list",
      errors: [],
      example: { returns: [exampleKey] },
    },
    create: {
      at: "POST /account/keys",
      summary: "Make a key",
      description:
        "Of a role at most the asking key's. The new key starts with the most strikes and the highest ban level that a key of the client has. Not while a key of the client is banned.",
      role: "customer",
      body: NewKey,
      returns: CreatedKey,
      location: "/account/keys/{id}",
      kind: "plain",
      access: "changes",
      errors: ["role_too_high", "too_many_keys"],
      example: { body: { name: "till 2" }, returns: { ...exampleKey, key: "ps_live_..." } },
    },
    get: {
      at: "GET /account/keys/{keyId}",
      summary: "Get one of the client's keys",
      role: "customer",
      params: { keyId: accessIds.keyId },
      returns: Key,
      kind: "plain",
      errors: ["key_not_found"],
      example: { returns: exampleKey },
    },
    revoke: {
      at: "DELETE /account/keys/{keyId}",
      summary: "Revoke a key",
      description: "It stops working within a second.",
      role: "customer",
      params: { keyId: accessIds.keyId },
      kind: "plain",
      access: "changes",
      errors: ["key_not_found"],
      example: {},
    },
    rotate: {
      at: "POST /account/keys/{keyId}/rotation",
      summary: "Replace a key",
      description:
        "A new key with the same role, name, strikes, ban and ban level; the old one works for the overlap. Not while a key of the client is banned.",
      role: "customer",
      params: { keyId: accessIds.keyId },
      body: Rotation,
      returns: CreatedKey,
      location: "/account/keys/{id}",
      kind: "plain",
      access: "changes",
      errors: ["key_not_found", "too_many_keys"],
      example: { body: { overlapDays: 7 }, returns: { ...exampleKey, id: 8, key: "ps_live_..." } },
    },
  },
} as const satisfies Api;
