import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { runtimeSettings } from "../src/cli/runtime-settings.ts";
import { settings, variables } from "../src/config.ts";
import { everyEndpoint } from "../src/contract/api.ts";
import { errors } from "../src/contract/errors.ts";
import { eventData } from "../src/contract/event-shapes.ts";
import { catalogueEvents, type EventType, eventTypes } from "../src/contract/event-types.ts";
import { plans } from "../src/contract/plans.ts";
import { componentSchemas } from "../src/contract/shape.ts";

const root = join(import.meta.dir, "..");
const files = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...new Bun.Glob("docs/**/*.md").scanSync(root),
];
const texts = new Map<string, string>();
for (const file of files) texts.set(file, await Bun.file(join(root, file)).text());

function textOf(file: string): string {
  return texts.get(file) ?? "";
}

/** The rows of the one table in a text that has this head, each as its cells. */
function tableOf(text: string, head: string): string[][] {
  const lines = text.split("\n");
  const start = lines.indexOf(head);
  if (start < 0) return [];
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, end < 0 ? rows.length : end).map((line) =>
    line
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim()),
  );
}

test("the table of errors is the contract's", () => {
  const written = tableOf(textOf("docs/API.md"), "| code | status | cause | remedy |");
  const meant = Object.entries(errors).map(([code, { status, cause, remedy }]) => [
    `\`${code}\``,
    String(status),
    cause,
    remedy,
  ]);
  expect(written).toEqual(meant);
});

test("the table of operations is the contract's", () => {
  const written = tableOf(textOf("docs/API.md"), "| operation | method and path | least role | stability |");
  const meant = everyEndpoint.map(({ id, route }) => [
    `\`${id}\``,
    `\`${route.at}\``,
    route.role,
    route.successor ? "deprecated" : (route.stability ?? "stable"),
  ]);
  expect(written).toEqual(meant);
});

test("the table of plans is the contract's", () => {
  const written = tableOf(textOf("docs/API.md"), "| plan | requests a minute | requests a day |");
  const meant = Object.entries(plans).map(([plan, quota]) => [
    `\`${plan}\``,
    ...(quota
      ? [quota.perMinute, quota.perDay].map((each) => each.toLocaleString("en-US"))
      : ["as agreed", "as agreed"]),
  ]);
  expect(written).toEqual(meant);
});

/** What is written as code in a cell, but for what explains it in brackets. */
function codeIn(cell: string): string[] {
  return Array.from(cell.replace(/\([^)]*\)/g, "").matchAll(/`([^`]+)`/g), ([, code]) => code as string);
}

function fieldsOf(component: string): string[] {
  return Object.keys(componentSchemas()[component]?.properties ?? {});
}

test("the table of events has every type with its data and who sees it", () => {
  const rows = tableOf(textOf("docs/API.md"), "| type | data | who sees it |");
  const written = rows.flatMap(([types = "", data = "", who = ""]) => {
    const names = codeIn(data).flatMap((name) => (/^[A-Z]/.test(name) ? fieldsOf(name) : name));
    return codeIn(types).map((type) => ({ type, data: names.sort(), isForAll: who === "everybody" }));
  });
  const isForAll = new Set<EventType>(catalogueEvents);
  const meant = eventTypes.map((type) => ({
    type,
    data: fieldsOf(eventData[type].id as string).sort(),
    isForAll: isForAll.has(type),
  }));
  expect(new Set(written)).toEqual(new Set(meant));
});

test("the table of lists has every list with its filters", () => {
  const rows = tableOf(textOf("docs/API.md"), "| list | filters | order |");
  const written = rows.flatMap(([lists = "", filters = ""]) =>
    codeIn(lists).map((at) => [at, codeIn(filters).sort()]),
  );
  const everywhere = ["limit", "cursor", "sort"];
  const meant = everyEndpoint
    .filter(({ route }) => route.kind === "list")
    .map(({ route }) => {
      const filters = Object.keys(route.query ?? {}).filter((name) => !everywhere.includes(name));
      return [route.at, filters.sort()];
    });
  expect(new Set(written)).toEqual(new Set(meant));
});

test.each(["docs/API.md", "docs/OPERATING.md"])("the contents of %s name every chapter", (file) => {
  const [contents = ""] = textOf(file).split(/^## /m);
  const chapters = Array.from(withoutCode(textOf(file)).matchAll(/^## (.+)$/gm), ([, heading]) =>
    anchorOf(heading as string),
  );
  expect(chapters.length).toBeGreaterThan(20);
  expect(chapters.filter((anchor) => !contents.includes(`(#${anchor})`))).toEqual([]);
});

test("the table of settings is that of config.ts", () => {
  const written = tableOf(textOf("docs/OPERATING.md"), "| variable | flag | default | meaning |");
  const meant = Object.values(settings).map(({ env, fallback, meaning }) => [
    `\`${env}\``,
    `\`--${env.toLowerCase().replaceAll("_", "-")}\``,
    fallback === "" ? "none" : `\`${fallback}\``,
    meaning,
  ]);
  expect(written).toEqual(meant);
});

test("every error code and setting that the documents name exists", () => {
  const known = new Set<string>([...Object.keys(errors), ...variables, ...Object.keys(runtimeSettings)]);
  const strangers = files.flatMap((file) =>
    Array.from(textOf(file).matchAll(/\b[45]\d\d `([a-z_]+)`|`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g))
      .map(([, code, variable]) => (code ?? variable) as string)
      .filter((name) => !known.has(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(strangers).toEqual([]);
});

/** An address of a heading, as a page makes it from the heading's text. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

function anchorsOf(file: string): string[] {
  return Array.from(withoutCode(textOf(file)).matchAll(/^#+ (.+)$/gm), ([, heading]) =>
    anchorOf(heading as string),
  );
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`\n]*`/g, "");
}

/** Every link of a document to a place in this project. */
function linksOf(file: string): string[] {
  return Array.from(
    withoutCode(textOf(file)).matchAll(/\]\(([^)\s]+)\)/g),
    ([, target]) => target as string,
  ).filter((target) => !/^[a-z]+:/.test(target));
}

function leadsNowhere(file: string, link: string): boolean {
  const [path, anchor] = link.split("#") as [string, string | undefined];
  const target = path === "" ? file : join(dirname(file), path);
  if (!existsSync(join(root, target))) return true;
  return anchor !== undefined && !anchorsOf(target).includes(anchor);
}

test("every link within the documents leads somewhere", () => {
  const links = files.flatMap((file) => linksOf(file).map((link) => ({ file, link })));
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter(({ file, link }) => leadsNowhere(file, link))).toEqual([]);
});

test("a link to what is not there is noticed", () => {
  expect(leadsNowhere("README.md", "docs/API.md#errors")).toBe(false);
  expect(leadsNowhere("README.md", "docs/API.md#no-such-heading")).toBe(true);
  expect(leadsNowhere("docs/API.md", "README.md")).toBe(true);
});

/** Every use of the command in a text: at the start of a line of code, or as a piece of code. */
function usesIn(text: string): string[] {
  const code = /(?:^(?:\$ | {4})?|`)(?:[A-Z_]+=\S+ )*(?:\.\/)?petstore ((?:-|[a-z])[^`\n]*)/gm;
  return Array.from(text.matchAll(code), ([, use]) => (use as string).replace(/ [>|#].*$/, "").trim());
}

/** The help of the deepest command that these words lead to, or why they lead to none. */
async function complaintAbout(use: string): Promise<string | undefined> {
  const words = use.split(/\s+/);
  const rest = words.findIndex((word) => !/^[a-z]+$/.test(word));
  const path = rest < 0 ? words : words.slice(0, rest);
  const command = Bun.spawn(["./petstore", ...path, "--help"], { cwd: root, stderr: "ignore" });
  const help = await new Response(command.stdout).text();
  if (!help.startsWith(`Usage: ${["petstore", ...path].join(" ")} `))
    return `petstore ${use}: no such command`;
  const flags = words.filter((word) => word.startsWith("--")).map((word) => word.replace(/=.*/, ""));
  const unknown = flags.filter((flag) => !new RegExp(`^\\s+(-\\w, )?${flag}\\b(?!-)`, "m").test(help));
  return unknown.length > 0 ? `petstore ${use}: no flag ${unknown.join(", ")}` : undefined;
}

test("every command that the documents name is there, with its flags", async () => {
  const uses = new Set(files.flatMap((file) => usesIn(textOf(file))));
  expect(uses.size).toBeGreaterThan(10);
  const complaints = await Promise.all(Array.from(uses, complaintAbout));
  expect(complaints.filter((each) => each !== undefined)).toEqual([]);
});

test("a command or flag that is not there is noticed", async () => {
  expect(usesIn("`./petstore fly --high` and\n$ PORT=1 petstore serve --demo > log")).toEqual([
    "fly --high",
    "serve --demo",
  ]);
  expect(await complaintAbout("keys lose 7")).toBe("petstore keys lose 7: no such command");
  expect(await complaintAbout("serve --host-name x")).toBe(
    "petstore serve --host-name x: no flag --host-name",
  );
  expect(await complaintAbout("keys revoke 7")).toBeUndefined();
});

test("the README has the two commands", () => {
  const lines = textOf("README.md").split("\n");
  expect(lines).toContain("    npm ci && npm start");
  expect(lines).toContain("    npm ci && npm test");
});

test("every script that the documents run is in package.json", async () => {
  const { scripts } = await Bun.file(join(root, "package.json")).json();
  for (const file of files)
    for (const [, name] of textOf(file).matchAll(/\bnpm run (\w+)/g))
      expect([file, Object.keys(scripts)]).toEqual([file, expect.arrayContaining([name])]);
});
