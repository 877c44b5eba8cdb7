import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needed } from "../tools.ts";

/** A key and a certificate that vouches for itself, for `localhost` and no other name. */
export interface Certificate extends Disposable {
  /** The folder that both are in; others may read what is in it. */
  readonly folder: string;
  readonly key: string;
  readonly certificate: string;
}

export async function aCertificate(): Promise<Certificate> {
  await needed("openssl");
  const folder = mkdtempSync(join(tmpdir(), "petstore-certificate-"));
  chmodSync(folder, 0o755);
  const [key, certificate] = [join(folder, "key"), join(folder, "ca.crt")];
  const made = Bun.spawnSync([
    ...["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"],
    ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
    ...["-keyout", key, "-out", certificate],
  ]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  return {
    folder,
    key,
    certificate,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
