// What is in deploy/ agrees with the program; what can be run without a container engine is run.
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readConfig, settings, variables } from "../src/config.ts";
import { aFolder, type Folder, petstore, run, serving } from "./cli/command.ts";
import { type Document, kubernetes, nginxConf, root, textOf, the, yaml } from "./deployed.ts";

const files = [...new Bun.Glob("deploy/**/*").scanSync(root)].sort();
const single = yaml("deploy/compose.yaml");
const scaled = yaml("deploy/compose.scaled.yaml");
const pod = kubernetes("deployment").spec.template.spec;
const [container] = pod.containers;
const dockerfile = textOf("deploy/Dockerfile");
const unit = textOf("deploy/petstore.service");

const ours: Document[] = [
  single.services.petstore,
  scaled.services["petstore-1"],
  scaled.services["petstore-2"],
];

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
    "BUN_BE_BUN",
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
  const uses = [...text.matchAll(/^# .* petstore (?:petstore )?((?:backup|restore) .+)$/gm)].map(
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
  expect(Number(the(unit, /^TimeoutStopSec=(\d+)$/))).toBeGreaterThan(shutdown);
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
  // Each apply would set back what the autoscaler has made of it.
  expect(kubernetes("kustomization").resources).toContain("autoscaler.yaml");
  expect(spec.replicas).toBeUndefined();
  expect(kubernetes("autoscaler").spec.minReplicas).toBeGreaterThan(1);
  const backend = kubernetes("ingress.example").spec.rules[0].http.paths[0].backend.service;
  expect(backend.name).toBe(kubernetes("service").metadata.name);
  for (const name of ["config", "secret.example", "deployment", "service", "disruption", "autoscaler"])
    expect(kubernetes(name).metadata.namespace).toBe(kubernetes("namespace").metadata.name);
  for (const resource of kubernetes("kustomization").resources)
    expect(files).toContain(`deploy/kubernetes/${resource}`);
});

test("the service of systemd runs the same program as the image, on a database in the one folder that it may write to", () => {
  const program = the(dockerfile, /^ENTRYPOINT \["(.+)"\]$/);
  expect(the(unit, /^ExecStart=(.+)$/)).toBe(`${program} ${the(dockerfile, /^CMD \["(\w+)"\]$/)}`);
  const folder = the(unit, /^WorkingDirectory=(.+)$/);
  expect(folder).toBe(`/var/lib/${the(unit, /^StateDirectory=(.+)$/)}`);
  // No setting is there already that another of the operator's, such as DATABASE_URL_FILE, would contradict.
  expect(unit).not.toMatch(/^Environment=/m);
  expect(unit).toContain(join(folder, dirname(settings.databaseUrl.fallback), "admin.key"));
});

/** The executable that the first stage of the image makes, of the files that it copies and no others. */
async function builtAsForTheImage(sources: Folder): Promise<string> {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = ""]) =>
    paths.split(" "),
  );
  expect(copied).toContain("src");
  const letIn = textOf("deploy/Dockerfile.dockerignore");
  for (const path of copied) {
    expect(letIn).toContain(`!${path}\n`);
    cpSync(join(root, path), sources.file(path), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), sources.file("node_modules"));
  const build = the(dockerfile, /^RUN (npm run \w+)$/).split(" ");
  expect(await run(build, { in: sources.path })).toMatchObject({ code: 0 });
  return sources.file(the(dockerfile, /^COPY --from=build \/app\/(\S+) \S+$/));
}

test("what goes into the image starts in a folder of its own, and its health check and the probes know it", async () => {
  using sources = aFolder();
  using folder = aFolder();
  const program = folder.file("petstore");
  cpSync(await builtAsForTheImage(sources), program);
  const check: string[] = JSON.parse(the(dockerfile, /^ +CMD (\[.*\])$/));
  const installed = the(dockerfile, /^ENTRYPOINT \["(.+)"\]$/);
  expect(check).toContain(installed);
  const isHealthy = async (at: string) => {
    const here = check.map((word) => (word === installed ? program : word));
    return (await run(here, { env: { PORT: new URL(at).port } })).code === 0;
  };
  const command = [program, the(dockerfile, /^CMD \["(\w+)"\]$/)];
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
