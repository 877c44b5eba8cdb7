import { afterAll, expect, test } from "bun:test";
import { existsSync, symlinkSync } from "node:fs";
import { aFolder, type Ended, PETSTORE, petstore, run } from "./command.ts";

const folder = aFolder();
afterAll(() => folder[Symbol.dispose]());
const inFolder = { in: folder.path };

const helps = new Map<string, Promise<Ended>>();

/** What a command says to `--help`, which is asked once. */
function helpOf(words: readonly string[]): Promise<Ended> {
  const help = helps.get(words.join(" ")) ?? petstore([...words, "--help"], inFolder);
  helps.set(words.join(" "), help);
  return help;
}

/** Every command, groups included, as the help itself lists them. */
const commands = [
  [],
  ["serve"],
  ["migrate"],
  ["demo"],
  ["clients"],
  ["clients", "create"],
  ["clients", "list"],
  ["clients", "change"],
  ["clients", "suspend"],
  ["clients", "resume"],
  ["clients", "remove"],
  ["keys"],
  ["keys", "create"],
  ["keys", "list"],
  ["keys", "rotate"],
  ["keys", "revoke"],
  ["plans"],
  ["plans", "list"],
  ["bans"],
  ["bans", "list"],
  ["bans", "impose"],
  ["bans", "lift"],
  ["export"],
  ["import"],
  ["backup"],
  ["restore"],
  ["doctor"],
  ["openapi"],
];

test.each(commands.map((words) => [["petstore", ...words].join(" "), words] as const))(
  "%s --help explains itself with an example",
  async (_, words) => {
    const { code, stdout, stderr } = await helpOf(words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: petstore/);
    expect(stdout).toMatch(/^ {2}-h, --help +Print this help\.$/m);
    expect(stdout).not.toContain("display help");
    expect(stdout).toMatch(/^Examples?:\n {2}\S*petstore|^Examples?:\n {2}PORT=/m);
  },
);

test.each([[["keys"]], [["keys", "create"]], [["serve"]], [[]]])(
  "petstore help %j is the help of that command",
  async (words) => {
    const asked = await petstore(["help", ...words], inFolder);
    expect(asked).toEqual(await helpOf(words));
  },
);

test("the list above is whole: every command that the help names is in it", async () => {
  const named = async (words: readonly string[]) => {
    const { stdout } = await helpOf(words);
    const list = stdout.split(/^Commands:$/m)[1]?.split("\n\n")[0] ?? "";
    return [...list.matchAll(/^ {2}([a-z]+)/gm)]
      .map(([, name]) => name as string)
      .filter((name) => name !== "help");
  };
  for (const words of [[], ["clients"], ["keys"], ["plans"], ["bans"]]) {
    const known = commands.filter(
      (each) => each.length === words.length + 1 && words.every((w, at) => each[at] === w),
    );
    expect(await named(words)).toEqual(known.map((each) => each.at(-1) as string));
  }
});

test("serve --help names every setting with its variable and default", async () => {
  const { stdout } = await helpOf(["serve"]);
  const text = stdout.replace(/\s+/g, " ");
  for (const [flag, variable, standard] of [
    ["--database-url", "DATABASE_URL or DATABASE_URL_FILE", "./data/petstore.db"],
    ["--host", "HOST", "127.0.0.1"],
    ["--port", "PORT", "8080"],
    ["--log-level", "LOG_LEVEL", "info"],
    ["--new-pet-stock", "NEW_PET_STOCK", "1"],
    ["--pet-get-sunset-at", "PET_GET_SUNSET_AT", "2027-11-30T23:59:59Z"],
    ["--trust-proxy", "TRUST_PROXY", "0"],
    ["--anonymous-per-minute", "ANONYMOUS_PER_MINUTE", "60"],
    ["--anonymous-per-day", "ANONYMOUS_PER_DAY", "1000"],
    ["--ban-strikes", "BAN_STRIKES", "20"],
    ["--ban-strike-window-seconds", "BAN_STRIKE_WINDOW_SECONDS", "300"],
    ["--ban-grace-seconds", "BAN_GRACE_SECONDS", "2"],
    ["--ban-minutes", "BAN_MINUTES", "5,15,60,1440"],
    ["--usage-kept-days", "USAGE_KEPT_DAYS", "400"],
  ]) {
    expect(text).toContain(`${flag} <value>`);
    expect(text).toContain(`(${variable}, default ${standard})`);
  }
});

test.each([
  [["serv"], "serve"],
  [["docter"], "doctor"],
  [["keys", "creat"], "create"],
  [["clients", "lst"], "list"],
  [["clients", "suspended", "2"], "suspend"],
  [["bans", "left", "2"], "lift"],
  [["keys", "rotate", "2", "--overlap-day", "2"], "--overlap-days"],
  [["serve", "--prot", "1"], "--port"],
  [["keys", "create", "--clinet", "1"], "--client"],
  [["doctor", "--jsn"], "--json"],
] as const)("%j is met with a suggestion", async (words, meant) => {
  const { code, stdout, stderr } = await petstore(words, inFolder);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`(Did you mean ${meant}?)`);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test.each([
  [["nonsense"]],
  [["serve", "--nonsense"]],
  [["serve", "extra"]],
  [["clients", "create"]],
  [["clients", "create", "--name", "Shop", "--plan", "gold"]],
  [["clients", "create", "--name", "Shop", "--plan", "enterprise", "--per-minute", "lots", "--per-day", "1"]],
  [["keys", "create", "--role", "king"]],
  [["keys", "create", "--client", "0"]],
  [["keys", "create", "--expires-in-days", "1.5"]],
  [["keys", "revoke"]],
  [["keys", "revoke", "seven"]],
  [["keys", "rotate"]],
  [["keys", "rotate", "1", "--overlap-days", "lots"]],
  [["keys", "rotate", "1", "--overlap-days", "1.5"]],
  [["clients", "change", "0", "--name", "Shop"]],
  [["clients", "change", "2", "--plan", "gold"]],
  [["clients", "suspend"]],
  [["clients", "resume", "-1"]],
  [["clients", "remove", "2", "3"]],
  [["bans", "impose", "2"]],
  [["bans", "impose", "2", "--minutes", "0"]],
  [["bans", "lift"]],
  [["plans", "list", "--client", "2"]],
])("%j is wrong usage: exit code 2, one plain message, and no database", async (words) => {
  const { code, stdout, stderr } = await petstore(words, inFolder);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^error: /);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(existsSync(folder.file("data"))).toBe(false);
});

test("--version prints the version and nothing else", async () => {
  const { code, stdout } = await petstore(["--version"], inFolder);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "1.0.0\n" });
});

test("the command works through a link and from any folder", async () => {
  symlinkSync(PETSTORE, folder.file("link"));
  const { code, stdout } = await run([folder.file("link"), "openapi"], { in: "/" });
  expect(code).toBe(0);
  expect(JSON.parse(stdout).paths).toBeObject();
});

test("a setting of the runtime's heap reaches the runtime, in the place of our own", async () => {
  const heap = (growth: string) =>
    petstore(["--version"], { env: { BUN_JSC_heapGrowthMaxIncrease: growth } });
  expect((await heap("2")).code).toBe(0);
  const refused = await heap("large");
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("BUN_JSC_heapGrowthMaxIncrease=large");
});
