import { expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { errors } from "../../src/contract/errors.ts";
import { plans } from "../../src/contract/plans.ts";
import { roles } from "../../src/contract/route.ts";
import { docsPage } from "../../src/http/docs/page.ts";
import { aStore } from "../harness.ts";

const dates = {
  deprecatedAt: Date.parse("2026-11-01T00:00:00Z"),
  sunsetAt: Date.parse("2027-11-30T23:59:59Z"),
};

async function served() {
  await using store = await aStore();
  const reply = await fetch(`${store.url}/llms.txt`);
  const text = await reply.text();
  const links = Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, link]) => link as string);
  const pages = await Promise.all(
    Array.from(new Set(links.map((link) => link.split("#")[0] as string)), async (page) => [
      page,
      (await fetch(store.url + page)).status,
    ]),
  );
  return { reply, text, links, pages };
}
const { reply, text, links, pages } = await served();

test("the text for language models is plain text with a title and a summary, and no longer than a short page", () => {
  expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(text).toStartWith("# Petstore\n\n> Pets, categories, stock and orders over HTTP and JSON.");
  expect(text.endsWith("\n")).toBe(true);
  expect(text.length).toBeLessThan(16_000);
});

test("it names every operation once, with method, path, least role, summary, and whether it will stay", () => {
  for (const { id, method, path, route } of everyEndpoint) {
    const lines = text.split("\n").filter((line) => line.startsWith(`- [${id}](`));
    expect([id, lines.length]).toEqual([id, 1]);
    expect(lines[0]).toStartWith(
      `- [${id}](/docs#${id}): \`${method} ${path}\`, ${route.role}. ${route.summary.replace(" (deprecated)", "")}.`,
    );
    if (route.successor)
      expect(lines[0]).toContain(`(deprecated, ends on 2027-11-30: use ${route.successor})`);
    expect(lines[0]?.includes(`(${route.stability})`)).toBe(route.stability !== undefined);
  }
});

test("it names every error code, role and plan, and how to authenticate", () => {
  for (const [code, { status }] of Object.entries(errors))
    expect(text).toMatch(new RegExp(`^- ${status}: .*\`${code}\``, "m"));
  expect(text).toContain(roles.join(", "));
  for (const [plan, quota] of Object.entries(plans))
    expect(text).toContain(
      quota ? `- ${plan}: ${quota.perMinute} requests a minute, ${quota.perDay}` : `- ${plan}:`,
    );
  expect(text).toContain("`X-API-Key: ps_live_...`");
});

test("every link in it leads somewhere on the same server", () => {
  expect(pages).toContainEqual(["/openapi.json", 200]);
  for (const [page, status] of pages) expect([page, status]).toEqual([page, 200]);
  const docs = docsPage(dates);
  for (const link of links.filter((each) => each.startsWith("/docs#")))
    expect([link, docs.includes(` id="${link.slice("/docs#".length)}"`)]).toEqual([link, true]);
});
