// A server whose database and limits are reached over TLS, as with most that are hired.
import { expect, test } from "bun:test";
import type { Redis } from "ioredis";
import { aCertificate } from "../servers/certificate.ts";
import { aFreePort } from "../servers/port.ts";
import { aPostgres, givenToServer } from "../servers/postgres.ts";
import { aValkey } from "../servers/valkey.ts";
import { adminKey, aFolder, serving } from "./command.ts";

test("a server asks PostgreSQL and Valkey over TLS", async () => {
  using made = await aCertificate();
  const tlsPort = aFreePort();
  await using valkey = await aValkey({
    settings: [
      ...["--tls-port", String(tlsPort), "--tls-cert-file", made.certificate],
      ...["--tls-key-file", made.key, "--tls-auth-clients", "no"],
    ],
  });
  givenToServer(made.key);
  await using postgres = await aPostgres({
    settings: { ssl: "on", ssl_key_file: made.key, ssl_cert_file: made.certificate },
  });
  const name = await postgres.newDatabase();
  using folder = aFolder();
  await using shop = await serving({
    database: `postgres://postgres@localhost:${postgres.port}/${name}?sslmode=require&sslrootcert=${made.certificate}`,
    in: folder.path,
    args: ["--demo"],
    env: { VALKEY_URL: `rediss://localhost:${tlsPort}`, NODE_EXTRA_CA_CERTS: made.certificate },
  });
  const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
  const body = JSON.stringify({ petId: 1 });
  const orders = Array.from({ length: 4 }, () =>
    fetch(`${shop.url}/store/orders`, { method: "POST", headers, body }),
  );
  expect((await Promise.all(orders)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  const open = await postgres.query(
    `select ssl, count(*)::int as n from pg_stat_ssl join pg_stat_activity using (pid)
     where application_name = 'petstore' and datname = '${name}' group by ssl`,
  );
  expect(open).toEqual([{ ssl: true, n: expect.any(Number) }]);
  expect(await countedIn(valkey.client())).toBe("4");
  expect(shop.stderr()).not.toContain("Warning");
});

/** How many requests the one client that asked was counted for today. */
async function countedIn(valkey: Redis): Promise<string | null> {
  const [windows = ""] = await valkey.keys("petstore:{client:*}:windows");
  return valkey.hget(windows, "dayCount");
}
