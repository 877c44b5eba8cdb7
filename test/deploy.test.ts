// What is in deploy/ agrees with the program; what can be run without a container engine is run.
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readConfig, settings, variables } from "../src/config.ts";
import { LARGE_BODY_BYTES } from "../src/http/body.ts";
import { HEARTBEAT_MS } from "../src/http/streams.ts";
import { IDLE_SECONDS } from "../src/http/wire/connection.ts";
import { BOUNDS } from "../src/store/sqlite/writer.ts";
import { aFolder, eventually, petstore, run, serving } from "./cli/command.ts";
import { follow } from "./following.ts";
import { instances } from "./scaled/instances.ts";
import { aNginx, testedConfiguration } from "./servers/nginx.ts";
import { aDoor } from "./servers/proxy.ts";

/** How late nginx may write its line. */
const LOGGED_MS = 5000;
const root = join(import.meta.dir, "..");
const files = [...new Bun.Glob("deploy/**/*").scanSync(root)].sort();
const textOf = (file: string) => readFileSync(join(root, file), "utf8");

// biome-ignore lint/suspicious/noExplicitAny: a test reads the fields that it expects
type Document = any;
const yaml = (file: string): Document => Bun.YAML.parse(textOf(file));
const single = yaml("deploy/compose.yaml");
const scaled = yaml("deploy/compose.scaled.yaml");
const kubernetes = (name: string): Document => yaml(`deploy/kubernetes/${name}.yaml`);
const pod = kubernetes("deployment").spec.template.spec;
const [container] = pod.containers;
const dockerfile = textOf("deploy/Dockerfile");
const nginxConf = textOf("deploy/nginx.conf");
const ours: Document[] = [
  single.services.petstore,
  scaled.services["petstore-1"],
  scaled.services["petstore-2"],
];

/** The one place of a text that a pattern with one group finds. */
function the(text: string, pattern: RegExp): string {
  const found = [...text.matchAll(new RegExp(pattern, "gm"))];
  if (found.length !== 1) throw new Error(`${pattern} is there ${found.length} times`);
  return found[0]?.[1] as string;
}

test("every YAML file is one document with something in it", () => {
  const documents = files.filter((file) => file.endsWith(".yaml"));
  expect(documents.length).toBeGreaterThan(8);
  for (const file of documents) expect([file, Object.keys(yaml(file)).length > 1]).toEqual([file, true]);
});

test("every setting that deploy/ names is one of config.ts", () => {
  const others = new Set([
    "POSTGRES_USER",
    "POSTGRES_PASSWORD",
    "POSTGRES_DB",
    "VALKEY_PASSWORD",
    "REDISCLI_AUTH",
    "BUN_RUNTIME_TRANSPILER_CACHE_PATH",
  ]);
  const strangers = files.flatMap((file) =>
    [...textOf(file).matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)]
      .map(([name]) => name)
      .filter((name) => !variables.has(name) && !others.has(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(strangers).toEqual([]);
});

test("every value that deploy/ gives to a setting is taken", () => {
  const known = new Set(Object.values(settings).map(({ env }) => env));
  const environments: Record<string, string>[] = [
    ...ours.map((service) => service.environment),
    {
      ...kubernetes("config").data,
      ...kubernetes("secret.example").stringData,
      ...Object.fromEntries(container.env.map((each: Document) => [each.name, each.value])),
    },
  ];
  for (const environment of environments) {
    for (const [name, value] of Object.entries(environment))
      expect([name, known.has(name), typeof value]).toEqual([name, true, "string"]);
    // The one thing that compose fills in is a password.
    const filled = Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(/\$\{[^}]+\}/g, "secret"),
    ]);
    expect(() => readConfig(Object.fromEntries(filled))).not.toThrow();
  }
});

test("instances believe the one proxy in front of them, and a server alone believes nobody", () => {
  expect(single.services.petstore.environment.TRUST_PROXY).toBe("0");
  expect(scaled.services["petstore-1"].environment.TRUST_PROXY).toBe("1");
  expect(kubernetes("config").data.TRUST_PROXY).toBe("1");
});

test("all of them speak of the same port", () => {
  const port = settings.port.fallback;
  expect(the(dockerfile, /^EXPOSE (\d+)$/)).toBe(port);
  expect(the(dockerfile, /^ +PORT=(\d+)/)).toBe(port);
  for (const service of [single.services.petstore, scaled.services.nginx])
    for (const mapping of service.ports) expect(mapping).toEndWith(`:${port}`);
  expect(String(container.ports[0].containerPort)).toBe(port);
  const { ports } = kubernetes("service").spec;
  expect(ports[0].targetPort).toBe(container.ports[0].name);
  const upstreams = [...nginxConf.matchAll(/^ +server ([\w-]+):(\d+) /gm)];
  // Each once to be asked, and once for when all of them are left alone.
  expect(upstreams.map(([, name]) => name)).toEqual(["petstore-1", "petstore-2", "petstore-1", "petstore-2"]);
  for (const [, name = "", at] of upstreams) expect([name in scaled.services, at]).toEqual([true, port]);
});

test("the image names no database, so that a file can; its default is in the volume", () => {
  const given = /^ENV ((?:.*\\\n)*.*)/m.exec(dockerfile)?.[1] ?? "";
  expect(given).toContain("HOST=");
  for (const { env } of [settings.databaseUrl, settings.valkeyUrls]) expect(given).not.toContain(env);
  const database = resolve(the(dockerfile, /^WORKDIR (\/)$/), settings.databaseUrl.fallback);
  expect(dirname(database)).toBe(the(dockerfile, /^VOLUME (\S+)$/));
});

test("backups go to a volume of their own, whose folder the image's user owns, by a command that is there", async () => {
  const { volumes } = single.services.petstore;
  expect(volumes).toEqual(["data:/data", "backups:/backups"]);
  expect(Object.keys(single.volumes)).toEqual(["data", "backups"]);
  const made = the(dockerfile, /^RUN mkdir -m 0700 (.+) && chown 10001:10001 \1$/);
  expect(made.split(" ")).toEqual(volumes.map((each: string) => each.split(":")[1]));
  const text = textOf("deploy/compose.yaml");
  const uses = [...text.matchAll(/^# .* petstore (?:\/app\/petstore )?((?:backup|restore) .+)$/gm)].map(
    ([, use = ""]) => use,
  );
  expect(uses.map((use) => use.split(" ")[0])).toEqual(["backup", "restore"]);
  using folder = aFolder();
  mkdirSync(folder.file("backups"));
  const asked = { env: { DATABASE_URL: folder.database }, in: folder.path };
  expect((await petstore(["demo"], asked)).code).toBe(0);
  const today = "2026-11-16";
  for (const use of uses) {
    const here = use.replace("$(date +%F)", today).replaceAll('"', "").replace("/backups/", "backups/");
    expect([here, (await petstore(here.split(" "), asked)).code]).toEqual([here, 0]);
  }
});

test("a stop has more time than the server takes for it", () => {
  const shutdown = Number(settings.shutdownSeconds.fallback);
  for (const service of ours)
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(
      shutdown + Number(service.environment.SHUTDOWN_DRAIN_SECONDS ?? 0),
    );
  const pause = Number(container.lifecycle.preStop.exec.command[1]);
  const configured = Number(kubernetes("config").data.SHUTDOWN_SECONDS);
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(pause + configured);
});

test("connections of all instances fit into the PostgreSQL that is started for them", () => {
  const most = Number(/max_connections=(\d+)/.exec(scaled.services.postgres.command.join(" "))?.[1]);
  const each = Number(scaled.services["petstore-1"].environment.DATABASE_CONNECTIONS);
  // Some are for the commands, and PostgreSQL keeps three for its superuser.
  expect(2 * each + 10).toBeLessThan(most);
});

test("figures are read from each pod and each container, by nobody outside, and not through the service", () => {
  const { annotations } = kubernetes("deployment").spec.template.metadata;
  const given = Object.fromEntries(container.env.map((each: Document) => [each.name, each.value]));
  const port = container.ports.find((each: Document) => each.name === "metrics").containerPort;
  expect([given.METRICS_PORT, given.METRICS_HOST]).toEqual([String(port), "0.0.0.0"]);
  expect(annotations).toEqual({
    "prometheus.io/scrape": "true",
    "prometheus.io/port": String(port),
    "prometheus.io/path": "/metrics",
  });
  expect(kubernetes("service").spec.ports.map((each: Document) => each.targetPort)).toEqual(["http"]);
  expect(scaled.services["petstore-1"].environment.METRICS_PORT).toBe(String(port));
  expect(scaled.services["petstore-1"].ports).toBeUndefined();
});

test("Valkey keeps counts over a restart and throws none away", () => {
  const command = scaled.services.valkey.command.join(" ");
  expect(command).toContain("--appendonly yes");
  expect(command).toContain("--maxmemory-policy noeviction");
});

test("every part of the Kubernetes files belongs together", () => {
  const { spec } = kubernetes("deployment");
  const labels = spec.template.metadata.labels;
  expect(spec.selector.matchLabels).toEqual(labels);
  expect(kubernetes("service").spec.selector).toEqual(labels);
  expect(kubernetes("disruption").spec.selector.matchLabels).toEqual(labels);
  expect(kubernetes("autoscaler").spec.scaleTargetRef.name).toBe(kubernetes("deployment").metadata.name);
  expect(kubernetes("autoscaler").spec.minReplicas).toBe(spec.replicas);
  const backend = kubernetes("ingress.example").spec.rules[0].http.paths[0].backend.service;
  expect(backend.name).toBe(kubernetes("service").metadata.name);
  for (const name of ["config", "secret.example", "deployment", "service", "disruption", "autoscaler"])
    expect(kubernetes(name).metadata.namespace).toBe(kubernetes("namespace").metadata.name);
  for (const resource of kubernetes("kustomization").resources)
    expect(files).toContain(`deploy/kubernetes/${resource}`);
});

test("what goes into the image starts in a folder of its own, and its health check and the probes know it", async () => {
  using folder = aFolder();
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \/app\/\S*$/gm)].flatMap(([, sources = ""]) =>
    sources.split(" "),
  );
  expect(copied).toContain("src");
  const letIn = textOf("deploy/Dockerfile.dockerignore");
  for (const path of copied) {
    expect(letIn).toContain(`!${path}\n`);
    cpSync(join(root, path), folder.file(path), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), folder.file("node_modules"));
  mkdirSync(folder.file("data"));
  const check: string[] = JSON.parse(the(dockerfile, /^ +CMD (\[".*bun".*\])$/));
  const [program = "", ...words] = check;
  const isHealthy = async (at: string) => {
    const bun = program.replace("/app/", `${folder.path}/`);
    return (await run([bun, ...words], { env: { PORT: new URL(at).port } })).code === 0;
  };
  const command = [folder.file("petstore"), the(dockerfile, /^CMD \["(\w+)"\]$/)];
  const server = await serving({ command, database: folder.database, in: folder.path });
  expect(await isHealthy(server.url)).toBe(true);
  expect((await fetch(`${server.url}/console/console.js`)).status).toBe(200);
  for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"]) {
    const { path, port } = container[probe].httpGet;
    expect([probe, (await fetch(server.url + path)).status, port]).toEqual([
      probe,
      200,
      container.ports[0].name,
    ]);
  }
  expect(await server.end(the(dockerfile, /^STOPSIGNAL (\w+)$/) as "SIGTERM")).toBe(0);
  expect(await isHealthy(server.url)).toBe(false);
});

test("nginx takes its configuration", async () => {
  expect(await testedConfiguration(["http://127.0.0.1:1", "http://127.0.0.1:2"])).toMatchObject({ code: 0 });
});

test("nginx waits longer than a server does, and lets idle connections go before a server does", () => {
  const seconds = (name: string, indent: string) =>
    Number(the(nginxConf, new RegExp(`^${indent}${name} (\\d+)s;$`)));
  expect(seconds("proxy_read_timeout", "  ") * 1000).toBeGreaterThan(BOUNDS.deadlineMs);
  expect(seconds("keepalive_timeout", "    ")).toBeLessThan(IDLE_SECONDS);
  expect(Number(the(nginxConf, /client_max_body_size (\d+)m;$/)) * 1024 * 1024).toBe(LARGE_BODY_BYTES);
  const { annotations } = kubernetes("ingress.example").metadata;
  expect(annotations["nginx.ingress.kubernetes.io/proxy-body-size"]).toBe("8m");
  expect(Number(annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"]) * 1000).toBeGreaterThan(
    BOUNDS.deadlineMs,
  );
});

test("through nginx both instances are asked, and hear the request's id and the caller's address", async () => {
  await using shop = await instances(2, { TRUST_PROXY: "1" });
  await using nginx = await aNginx(shop.urls);
  const get = (headers: Record<string, string>) => fetch(`${nginx.url}/pets`, { headers });
  for (let n = 0; n < 4; n++) expect((await get({ "x-api-key": shop.key })).status).toBe(200);
  const logged = (isTold: (lines: Record<string, unknown>[]) => boolean) =>
    eventually(() => isTold(nginx.requests()), LOGGED_MS);
  expect(await logged((lines) => new Set(lines.map((line) => line.instances)).size === 2)).toBe(true);

  const mine = await get({ "x-api-key": shop.key, "x-request-id": "mine-1" });
  expect(mine.headers.get("x-request-id")).toBe("mine-1");
  const given = await get({ "x-api-key": shop.key });
  const id = given.headers.get("x-request-id");
  expect(id).toBeTruthy();
  expect(await logged((lines) => lines.some((line) => line.requestId === id))).toBe(true);

  // Whatever a caller says of itself, it is counted by where nginx heard it from: both instances see one address.
  const lefts: number[] = [];
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]) {
    const { headers } = await get({ "x-forwarded-for": address });
    lefts.push(Number(headers.get("x-ratelimit-remaining")));
  }
  expect(Math.min(...lefts)).toBeLessThanOrEqual(58);
  expect(JSON.stringify(nginx.requests())).not.toContain(shop.key);
});

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { code: string }).code;
}

test("events come through nginx as they happen, and it allows more silence than a stream has", async () => {
  await using shop = await instances(2, { TRUST_PROXY: "1" });
  await using nginx = await aNginx(shop.urls);
  await using stream = await follow(nginx.url, shop);
  const made = await shop.send("POST", "/categories", { name: "Dogs" });
  const { id } = (await made.json()) as { id: number };
  const [event] = await stream.events(1);
  expect(event?.data.subject).toBe(`categories/${id}`);
  const { annotations } = kubernetes("ingress.example").metadata;
  for (const seconds of [
    Number(the(nginxConf, /^ {2}proxy_read_timeout (\d+)s;$/)),
    Number(annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"]),
  ])
    expect(seconds * 1000).toBeGreaterThan(HEARTBEAT_MS);
});

test("what nginx refuses by itself is an Error of the API", async () => {
  await using shop = await instances(1);
  await using nginx = await aNginx(shop.urls);
  const post = (bytes: number) =>
    fetch(`${nginx.url}/pets/batch`, {
      method: "POST",
      headers: { "x-api-key": shop.key, "content-type": "application/json" },
      body: new Uint8Array(bytes).fill(0x20),
    });
  const atLimit = await post(LARGE_BODY_BYTES);
  expect([atLimit.status, await codeOf(atLimit)]).toEqual([400, "invalid_json"]);
  const beyond = await post(LARGE_BODY_BYTES + 1);
  expect([beyond.status, await codeOf(beyond)]).toEqual([413, "body_too_large"]);

  const figures = await fetch(`${nginx.url}/metrics`, { headers: { "x-api-key": shop.key } });
  expect([figures.status, await codeOf(figures)]).toEqual([404, "not_found"]);

  await using nobody = await aNginx(["http://127.0.0.1:1"]);
  const away = await fetch(`${nobody.url}/pets`);
  expect([away.status, await codeOf(away)]).toEqual([503, "unavailable"]);
  expect(away.headers.get("retry-after")).toBe("1");
});

test("an instance that is gone is noticed by nobody who reads, posts or sends a key", async () => {
  await using shop = await instances(1);
  const send = async (url: string, method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method,
      ...(method !== "GET" && { body: JSON.stringify({ name: "Dogs" }) }),
      headers: { "x-api-key": shop.key, "content-type": "application/json", ...headers },
    });
    await response.text();
    return response.status;
  };
  for (const [method, path, headers, expected] of [
    ["GET", "/pets", {}, 200],
    ["POST", "/categories", {}, 201],
    ["PUT", "/categories/1", { "idempotency-key": "put-once" }, 200],
  ] as const) {
    // A new nginx each time, because one failure is enough for it to leave an instance alone.
    await using nginx = await aNginx(["http://127.0.0.1:1", ...shop.urls]);
    for (let n = 0; n < 2; n++) expect(await send(nginx.url, method, path, headers)).toBe(expected);
    expect(nginx.requests().some((line) => String(line.instances).includes(", "))).toBe(true);
  }
});

test("a write that an instance did without answering is not sent to another, unless it has an Idempotency-Key", async () => {
  await using shop = await instances(2);
  const { id } = (await (await shop.send("POST", "/categories", { name: "Dogs" })).json()) as { id: number };
  const pets = async () => ((await (await shop.send("GET", "/pets?limit=100")).json()) as unknown[]).length;
  /** Two writes through nginx, while one instance is cut off after it did what it was sent; the statuses. */
  const cut = async (method: string, path: string, body: unknown, idempotencyKey?: string) => {
    const [first = "", second = ""] = shop.urls;
    await using door = await aDoor(Number(new URL(first).port));
    door.cutAfter(`${method} ${path}`);
    await using nginx = await aNginx([`http://127.0.0.1:${door.port}`, second]);
    const statuses: number[] = [];
    for (const n of [1, 2]) {
      const headers = {
        "x-api-key": shop.key,
        "content-type": "application/json",
        ...(idempotencyKey !== undefined && { "idempotency-key": `${idempotencyKey}-${n}` }),
      };
      const response = await fetch(nginx.url + path, { method, body: JSON.stringify(body), headers });
      await response.text();
      statuses.push(response.status);
    }
    return statuses.toSorted();
  };
  const pet = { name: "Rex", categoryId: id };
  expect(await cut("POST", "/pets", pet)).toEqual([201, 503]);
  expect(await pets()).toBe(2);
  expect(await cut("POST", "/pets", pet, "once")).toEqual([201, 201]);
  expect(await pets()).toBe(4);
  expect(await cut("PUT", `/categories/${id}`, { name: "Cats" })).toEqual([200, 503]);
  expect(await cut("PUT", `/categories/${id}`, { name: "Cats" }, "put")).toEqual([200, 200]);
});
