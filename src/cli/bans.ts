import { Command } from "commander";
import type { Ban } from "../contract/access-shapes.ts";
import { plans } from "../contract/plans.ts";
import { shownBan } from "../core/admin.ts";
import { act, given } from "./act.ts";
import { positive } from "./clients.ts";
import { print, table } from "./say.ts";
import { inspecting, withSettings } from "./settings.ts";

/** `petstore bans`: keys that are refused for a time. */
export function banCommands(): Command {
  const list = new Command("list")
    .description("List the bans in force.")
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore bans list")
    .action(async ({ json, ...options }: { json?: true }) => {
      const bans = await inspecting(options, async ({ reads }) => {
        const records = await reads.bans({ descending: false, limit: Number.MAX_SAFE_INTEGER }, Date.now());
        return records.map(shownBan);
      });
      print(json === true, bans, table(bans.map(row), "No key is banned."));
    });
  const impose = new Command("impose")
    .description("Ban a key for some minutes, within a second, on a running server too.")
    .argument("<key>", "The key's id.", positive)
    .requiredOption("--minutes <n>", "How long.", positive)
    .option("--reason <text>", "Why.")
    .option("--json", "Print JSON.")
    .addHelpText(
      "after",
      "\nExample:\n  petstore bans impose 7 --minutes 60 --reason 'leaked in a repository'",
    )
    .action(
      async (
        keyId: number,
        { minutes, reason, json, ...options }: { minutes: number; reason?: string; json?: true },
      ) => {
        const ban = await act<Ban>(options, "admin.bans.impose", { keyId, body: given({ minutes, reason }) });
        print(json === true, ban, `Key ${ban.keyId} is banned until ${ban.until}.`);
      },
    );
  const lift = new Command("lift")
    .description("Lift a key's ban, within a second, on a running server too.")
    .argument("<key>", "The key's id.", positive)
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore bans lift 7")
    .action(async (keyId: number, { json, ...options }: { json?: true }) => {
      await act(options, "admin.bans.lift", { keyId });
      print(json === true, { keyId }, `The ban of key ${keyId} is lifted.`);
    });
  const bans = new Command("bans")
    .description("List, impose and lift bans.")
    .addHelpText("after", "\nExample:\n  petstore bans lift 7");
  for (const each of [list, impose, lift]) bans.addCommand(withSettings(each, ["databaseUrl"]));
  return bans;
}

/** `petstore plans`: what can be had. */
export function planCommands(): Command {
  const list = new Command("list")
    .description("List the plans and their limits.")
    .option("--json", "Print JSON.")
    .addHelpText("after", "\nExample:\n  petstore plans list")
    .action(({ json }: { json?: true }) => {
      const all = Object.entries(plans).map(([plan, quota]) => ({ plan, ...quota }));
      const rows = all.map((row) => ({ perMinute: "as agreed", perDay: "as agreed", ...row }));
      print(
        json === true,
        all,
        table(
          rows.map(({ plan, perMinute, perDay }) => ({ plan, perMinute, perDay })),
          "",
        ),
      );
    });
  return new Command("plans")
    .description("List the plans; a client gets one by 'petstore clients'.")
    .addHelpText("after", "\nExample:\n  petstore plans list")
    .addCommand(list);
}

function row({ keyId, clientId, cause, reason, level, since, until }: Ban) {
  return { keyId, clientId, cause, reason, level, since, until };
}
