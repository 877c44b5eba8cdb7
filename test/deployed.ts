// The files of deploy/, as the tests of them read them.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dir, "..");
export const textOf = (file: string) => readFileSync(join(root, file), "utf8");

// biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
export type Document = any;

export const yaml = (file: string): Document => Bun.YAML.parse(textOf(file));
export const kubernetes = (name: string): Document => yaml(`deploy/kubernetes/${name}.yaml`);
export const nginxConf = textOf("deploy/nginx.conf");

/** The one place of a text that a pattern with one group finds. */
export function the(text: string, pattern: RegExp): string {
  const found = [...text.matchAll(new RegExp(pattern, "gm"))];
  if (found.length !== 1) throw new Error(`${pattern} is there ${found.length} times`);
  return found[0]?.[1] as string;
}
