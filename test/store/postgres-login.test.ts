import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWire } from "../../src/store/postgres/wire.ts";
import { eventually } from "../cli/command.ts";
import { aPostgres, givenToServer, type PostgresServer } from "../servers/postgres.ts";
import { needed } from "../tools.ts";

const PASSWORD = "correct horse/battery:staple?";
const patience = { connectMs: 5000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };

let folder: string;
let server: PostgresServer;
beforeAll(async () => {
  await needed("openssl");
  folder = mkdtempSync(join(tmpdir(), "petstore-login-"));
  chmodSync(folder, 0o755);
  const [key, certificate, access] = [join(folder, "key"), join(folder, "ca.crt"), join(folder, "access")];
  const made = Bun.spawnSync(
    [
      "openssl",
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=localhost",
    ].concat([...["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]]),
  );
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  // A user of its own must come by TLS and with a password; the tests' own user may do as it likes.
  writeFileSync(access, "hostssl all shopkeeper all scram-sha-256\nhost all postgres all trust\n");
  for (const file of [key, certificate, access]) givenToServer(file);
  server = await aPostgres({
    settings: { ssl: "on", ssl_key_file: key, ssl_cert_file: certificate, hba_file: access },
  });
  await server.query(`create role shopkeeper login password '${PASSWORD}'`);
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** What becomes of somebody who comes with this: whether TLS is used, or why they are refused. */
async function comes(password: string, query: string): Promise<unknown> {
  const url = `postgres://shopkeeper:${encodeURIComponent(password)}@localhost:${server.port}/postgres${query}`;
  try {
    const wire = await openWire({ url, ...patience }, () => {});
    const { rows } = await wire.send({ text: "select ssl from pg_stat_ssl where pid = pg_backend_pid()" });
    await wire.close();
    return rows[0];
  } catch (error) {
    return String(error);
  }
}

const verified = () => `?sslmode=verify-full&sslrootcert=${join(folder, "ca.crt")}`;

test("a password is proved and the server's certificate verified over TLS", async () => {
  expect(await comes(PASSWORD, verified())).toEqual({ ssl: true });
});

test("a wrong password, a certificate that nobody vouches for and a connection without TLS are refused", async () => {
  expect(await comes("wrong", verified())).toMatch(/password authentication failed/);
  expect(await comes(PASSWORD, "?sslmode=verify-full")).toMatch(/certificate/);
  expect(await comes(PASSWORD, "?sslmode=disable")).toMatch(/no pg_hba.conf entry/);
  for (const refused of [await comes("wr0ng-s3cret", verified()), await comes("wr0ng-s3cret", "")])
    expect(refused).not.toContain("wr0ng-s3cret");
});

test("a connection over TLS that is thrown away is gone from the server too", async () => {
  const url = `postgres://shopkeeper:${encodeURIComponent(PASSWORD)}@localhost:${server.port}/postgres${verified()}`;
  const wire = await openWire({ url, ...patience }, () => {});
  const here = () => server.query("select pid from pg_stat_activity where usename = 'shopkeeper'");
  expect(await here()).toHaveLength(1);
  wire.discard("for the test");
  expect(await eventually(async () => (await here()).length === 0, 2000)).toBe(true);
});
