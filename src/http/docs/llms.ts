import { isoDay } from "../../contract/days.ts";
import { plans } from "../../contract/plans.ts";
import { some } from "../../core/some.ts";
import { conventions } from "./introduction.ts";
import { type Dates, type KnownError, type Operation, type Reference, reference } from "./reference.ts";

/** The API for programs that read: what /docs says, in a page of text (llmstxt.org), made from the contract. */
export function llmsText(dates: Dates): string {
  const known = reference(dates);
  const { title, version, about, tags, errors } = known;
  return [
    `# ${title}`,
    `> ${about.split("\n\n")[0]} Version ${version} of the API.`,
    "Addresses begin with that of the server that gave you this text. Bodies are JSON in UTF-8; paths have no trailing slash.",
    section("Authentication", authentication(known)),
    section(
      "Plans",
      Object.entries(plans).map(([plan, quota]) =>
        quota
          ? `- ${plan}: ${some(quota.perMinute, "request")} a minute, ${quota.perDay} a UTC day.`
          : `- ${plan}: both numbers as agreed.`,
      ),
    ),
    section(
      "Conventions",
      conventions.map(([, name, text]) => `- ${name}: ${text}`),
    ),
    ...tags.map((tag) =>
      section(`Operations: ${tag.name}`, [
        tag.description,
        "",
        ...tag.operations.map((each) => operationLine(each, dates)),
      ]),
    ),
    section("Error codes", errorLines(errors)),
    section("More", links),
  ]
    .join("\n\n")
    .concat("\n");
}

const links = [
  "- [OpenAPI 3.0.3](/openapi.json): every shape, parameter, header and answer, for machines; [as YAML](/openapi.yaml).",
  "- [Reference](/docs): the same to read, with examples and the remedy of each error.",
  "- [Live](/livez) and [ready](/readyz): whether the server answers, and whether it can work.",
];

function section(title: string, lines: readonly string[]): string {
  return `## ${title}\n\n${lines.join("\n")}`;
}

function authentication({ roles }: Reference): string[] {
  return [
    "- Send an API key with each request, as `X-API-Key: ps_live_...` or `Authorization: Bearer ps_live_...`; never in a URL.",
    `- A key has one of the roles ${roles.join(", ")}; each includes the ones before it. Each operation names the least that it needs.`,
    "- Ask whoever runs the server for a key. Do not make one up: a key has a checksum.",
  ];
}

function operationLine(operation: Operation, { sunsetAt }: Dates): string {
  const { id, method, path, role, summary, stability, successor } = operation;
  const marks = [
    ...(successor === undefined ? [] : [`deprecated, ends on ${isoDay(sunsetAt)}: use ${successor}`]),
    ...(stability === undefined ? [] : [stability]),
  ];
  return `- [${id}](/docs#${id}): \`${method} ${path}\`, ${role}. ${summary}.${marks.map((mark) => ` (${mark})`).join("")}`;
}

function errorLines(errors: readonly KnownError[]): string[] {
  const byStatus = Map.groupBy(errors, ({ status }) => status);
  return Array.from(
    byStatus,
    ([status, all]) => `- ${status}: ${all.map(({ code }) => `\`${code}\``).join(", ")}`,
  );
}
