/** JSON as YAML that old readers and new ones take for the same: a text is without quotes only where it can be nothing else. */
export function yamlOf(value: unknown): string {
  return isBranch(value) ? branch(value, "").slice(1) : leaf(value);
}

type Branch = readonly unknown[] | Readonly<Record<string, unknown>>;

function isBranch(value: unknown): value is Branch {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** The lines of a list or of a record, each behind a line end. */
function branch(value: Branch, indent: string): string {
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((each) => (isBranch(each) ? `- ${branch(each, inner).trimStart()}` : `- ${leaf(each)}`))
    : Object.entries(value)
        .filter(([, each]) => each !== undefined)
        .map(([name, each]) => text(name) + (isBranch(each) ? `:${branch(each, inner)}` : `: ${leaf(each)}`));
  return lines.map((line) => `\n${indent}${line}`).join("");
}

function leaf(value: unknown): string {
  return typeof value === "string" ? text(value) : JSON.stringify(value ?? null);
}

/** Letters and what can stand among them: nothing that starts like a number, a date or a mark of YAML's own. */
const PLAIN = /^[A-Za-z_$/](?:[\w $/{}.,()-]*[\w$/}.)])?$/;
/** What YAML 1.1 takes for true, false or nothing. */
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

function text(value: string): string {
  if (PLAIN.test(value) && !WORDS.test(value)) return value;
  // These end a line in YAML, and not in JSON.
  return JSON.stringify(value).replace(
    /[\u0085\u2028\u2029]/g,
    (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
