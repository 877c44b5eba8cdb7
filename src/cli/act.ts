import { everyEndpoint } from "../contract/api.ts";
import { operator } from "../core/clients.ts";
import { Failure } from "../core/failure.ts";
import { KEY_BYTES } from "../core/key-format.ts";
import { perform } from "../core/perform.ts";
import { rulesOf } from "../core/rules.ts";
import { inputReader } from "../http/input.ts";
import { Refused, USAGE_EXIT } from "./say.ts";
import { configOf, withDatabase } from "./settings.ts";

type Options = Readonly<Record<string, unknown>>;

/** Does an admin's operation as the operator: the same checks, rules and audit trail as over HTTP. */
export async function act<T>(
  options: Options,
  operation: string,
  input: Readonly<Record<string, unknown>>,
): Promise<T> {
  const route = everyEndpoint.find(({ id }) => id === operation)?.route;
  if (!route) throw new Error(`There is no operation ${operation}.`);
  const rules = rulesOf(configOf(options));
  const now = Date.now();
  try {
    const checked = route.body ? { ...input, body: inputReader(route).body(input.body) } : input;
    return await withDatabase(options, ({ transact }) =>
      transact(async (store) => {
        const caller = { clientId: (await operator(store, now)).id, keyId: 0, role: "admin" } as const;
        const random = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
        const { body } = await perform(store, { operation, caller, input: checked, now, random }, rules);
        return body as T;
      }),
    );
  } catch (error) {
    throw error instanceof Failure && error.cause === undefined ? inWordsOfCommands(error) : error;
  }
}

/** What a caller is told to ask over HTTP an operator can ask by a command, and a field of a body is a flag. */
function inWordsOfCommands({ message, details }: Failure): Refused {
  if (!details)
    return new Refused(
      message
        .replace("GET /admin/clients/{clientId}/keys", "'petstore keys list'")
        .replace("GET /admin/clients", "'petstore clients list'"),
    );
  const problems = details.map(({ field, message }) => `${flagOf(field)} ${message}`);
  return new Refused(`${problems.join("; ")}.`, USAGE_EXIT);
}

/** `perMinute` is `--per-minute`. */
function flagOf(field: string): string {
  return `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The fields that were given. */
export function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
