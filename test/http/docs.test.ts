import { describe, expect, test } from "bun:test";
import { everyEndpoint } from "../../src/contract/api.ts";
import { errors } from "../../src/contract/errors.ts";
import { openapi } from "../../src/contract/openapi.ts";
import { Html, html } from "../../src/http/docs/html.ts";
import { docsPage, docsPolicy, page } from "../../src/http/docs/page.ts";
import { reference } from "../../src/http/docs/reference.ts";

const dates = {
  deprecatedAt: Date.parse("2026-11-01T00:00:00Z"),
  sunsetAt: Date.parse("2027-11-30T23:59:59Z"),
};
const docs = docsPage(dates);
const ids = [...docs.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id as string);
const links = [...docs.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link]) => link as string);

describe("the API reference", () => {
  test("has an anchor for every operation", () => {
    expect(everyEndpoint.map(({ id }) => id).filter((id) => !ids.includes(id))).toEqual([]);
  });

  test("has an anchor for every schema", () => {
    const { schemas } = openapi(dates).components as { schemas: object };
    expect(Object.keys(schemas).filter((name) => !ids.includes(`schema-${name}`))).toEqual([]);
  });

  test("has an anchor for every error code", () => {
    expect(Object.keys(errors).filter((code) => !ids.includes(`error-${code}`))).toEqual([]);
  });

  test("has each anchor once", () => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test("has a target for every link within the page", () => {
    const inner = links.filter((link) => link.startsWith("#"));
    expect(inner.length).toBeGreaterThan(everyEndpoint.length);
    expect(inner.filter((link) => !ids.includes(link.slice(1)))).toEqual([]);
  });

  test("opens every tag that it closes", () => {
    const open: string[] = [];
    for (const [, slash, name] of docs.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (["meta", "wbr", "col"].includes(name as string)) continue;
      if (slash) expect(open.pop()).toBe(name);
      else open.push(name as string);
    }
    expect(open).toEqual([]);
  });

  test("shows what a caller of each operation must know", () => {
    for (const { id, method, path, route } of everyEndpoint) {
      const article = docs
        .slice(docs.indexOf(`<article class="operation" id="${id}"`))
        .split("</article>")[0];
      const text = textOf(article as string);
      expect(text).toContain(method);
      expect(text).toContain(path);
      expect(text).toContain(`Role: ${route.role}`);
      for (const name of Object.keys({ ...route.params, ...route.query })) expect(text).toContain(name);
      for (const code of route.errors) expect(article).toContain(`href="#error-${code}"`);
      if (route.stability) expect(text).toContain(route.stability);
      if (route.successor) expect(article).toContain(`href="#${route.successor}"`);
    }
  });

  test("tells of each deprecated operation until when it works and what replaces it", () => {
    const section = docs.slice(docs.indexOf('<section id="deprecations"')).split("</section>")[0] as string;
    for (const { id, route } of everyEndpoint.filter((each) => each.route.successor)) {
      expect(section).toContain(`href="#${id}"`);
      expect(section).toContain(`href="#${route.successor}"`);
    }
    expect(textOf(section)).toContain("1 November 2026");
    expect(textOf(section)).toContain("30 November 2027, 23:59:59 UTC");
  });
});

describe("the page's safety", () => {
  test("it has no script and no style attribute", () => {
    expect(docs).not.toMatch(/<script|<iframe|<object|<link|javascript:/i);
    expect(docs).not.toMatch(/<[^>]+ (style|on\w+)=/i);
  });

  test("it leads to no other host and loads nothing", () => {
    expect(links.filter((link) => !/^(#|\/(?!\/))/.test(link))).toEqual([]);
    expect(docs).not.toMatch(/ src=|url\(|@import/);
  });

  test("its policy allows its one style and nothing else", () => {
    const [style, ...others] = [...docs.matchAll(/<style>(.*?)<\/style>/gs)].map(([, css]) => css as string);
    const hash = new Bun.CryptoHasher("sha256").update(style as string).digest("base64");
    expect(others).toEqual([]);
    expect(docsPolicy).toContain(`default-src 'none'; style-src 'sha256-${hash}';`);
  });

  test("hostile text anywhere in the contract stays text", () => {
    const attack = `"'></code></style><script>alert(1)</script><img src=x onerror=alert(2)>`;
    const hostile = page(poisoned(reference(dates), attack) as ReturnType<typeof reference>);
    expect(hostile).toContain("&lt;script&gt;");
    expect(hostile).not.toMatch(/<script|<img/);
    expect(hostile.match(/<\/style>/g)).toHaveLength(1);
  });

  test("only markup goes into markup as it is", () => {
    const given = `<b a="1" b='2'>&`;
    expect(html`<i title="${given}">${given}</i>`.markup).toBe(
      '<i title="&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;">&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;</i>',
    );
    expect(html`${[new Html("<hr>"), "<", undefined, null, false, 0]}`.markup).toBe("<hr>&lt;0");
  });
});

/** The same value with an attack in every text and every name of a field. */
function poisoned(value: unknown, attack: string): unknown {
  if (typeof value === "string") return value + attack;
  if (Array.isArray(value)) return value.map((each) => poisoned(each, attack));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, poisoned(each, attack)] as const);
  return Object.fromEntries(
    entries.flatMap(([name, each]) => [
      [name, each],
      [name + attack, each],
    ]),
  );
}

function textOf(markup: string): string {
  return markup.replace(/<[^>]*>/g, "").replaceAll("&#39;", "'");
}
