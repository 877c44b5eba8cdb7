import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWire } from "../../src/store/postgres/wire.ts";
import { eventually, petstore } from "../cli/command.ts";
import { aCertificate, type Certificate } from "../servers/certificate.ts";
import { aPostgres, givenToServer, type PostgresServer } from "../servers/postgres.ts";

const PASSWORD = "correct horse/battery:staple?";
const patience = { connectMs: 5000, statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };

let made: Certificate;
let server: PostgresServer;
beforeAll(async () => {
  made = await aCertificate();
  const { key, certificate } = made;
  const access = join(made.folder, "access");
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
  made[Symbol.dispose]();
});

function addressOf(password: string, query: string, host = "localhost"): string {
  return `postgres://shopkeeper:${encodeURIComponent(password)}@${host}:${server.port}/postgres${query}`;
}

/** What becomes of somebody who comes with this: whether TLS is used, or why they are refused. */
async function comes(password: string, query: string, host = "localhost"): Promise<unknown> {
  const url = addressOf(password, query, host);
  try {
    const wire = await openWire({ url, ...patience }, () => {});
    const { rows } = await wire.send({ text: "select ssl from pg_stat_ssl where pid = pg_backend_pid()" });
    await wire.close();
    return rows[0];
  } catch (error) {
    return String(error);
  }
}

const verified = () => `?sslmode=verify-full&sslrootcert=${made.certificate}`;

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

test("a certificate of another host is refused, and a mode of less care demands as much", async () => {
  expect(await comes(PASSWORD, verified(), "127.0.0.1")).toMatch(/altname|certificate/i);
  for (const mode of ["prefer", "require", "verify-ca"]) {
    expect(await comes(PASSWORD, `?sslmode=${mode}`)).toMatch(/certificate/);
    expect(await comes(PASSWORD, verified().replace("verify-full", mode))).toEqual({ ssl: true });
  }
});

test("a certificate that nobody vouches for is told with what to do, in one line", async () => {
  const env = { DATABASE_URL: addressOf(PASSWORD, "?sslmode=require") };
  const { code, stderr } = await petstore(["doctor"], { env });
  expect(code).not.toBe(0);
  expect(stderr).toContain("sslrootcert=FILE");
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(stderr).not.toContain("horse");
});

test("a connection over TLS that is thrown away is gone from the server too", async () => {
  const url = addressOf(PASSWORD, verified());
  const wire = await openWire({ url, ...patience }, () => {});
  const here = () => server.query("select pid from pg_stat_activity where usename = 'shopkeeper'");
  expect(await here()).toHaveLength(1);
  wire.discard("for the test");
  expect(await eventually(async () => (await here()).length === 0, 2000)).toBe(true);
});
