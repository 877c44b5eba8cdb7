import { join } from "node:path";
import { OURS } from "./figures.ts";
import { PLENTY } from "./fill.ts";
import { freePort, type Server, type Servers } from "./servers.ts";

export interface Contender {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What a user would install for it beside the runtime; ours is one file with the runtime in it. */
  readonly packages: readonly string[];
  readonly runtime: "bun" | "node";
  /** Ours is also held against its contract. */
  readonly isOurs?: true;
  /** A peer that also does what ours does besides, and is held to it. */
  readonly isDutiful?: true;
}

const node = join(import.meta.dir, "node_modules/.bin/node");
const bun = [process.execPath, "--no-install"];
const generous = { ANONYMOUS_PER_MINUTE: String(PLENTY), ANONYMOUS_PER_DAY: String(PLENTY) };
/** A spent key is refused for as long as the bench asks: no ban comes between. */
const lenient = { BAN_STRIKES: "10000", BAN_GRACE_SECONDS: "3600" };

/** What `npm run build` makes, and an operator installs. */
export const EXECUTABLE = join(import.meta.dir, "../dist/petstore");

export const petstore: Contender = {
  name: OURS,
  command: [EXECUTABLE, "serve", "--port", "0"],
  env: { ...generous, ...lenient },
  packages: [],
  runtime: "bun",
  isOurs: true,
};

export const peers: readonly Contender[] = [
  {
    name: "elysia",
    command: [...bun, "bench/peers/elysia.js"],
    packages: ["elysia"],
    runtime: "bun",
  },
  {
    name: "hono",
    command: [...bun, "bench/peers/hono.js"],
    packages: ["hono", "@hono/zod-openapi", "zod"],
    runtime: "bun",
  },
  {
    name: "fastify",
    command: [node, "bench/peers/fastify.js"],
    packages: ["fastify", "@fastify/rate-limit"],
    runtime: "node",
  },
  {
    name: "express",
    command: [node, "bench/peers/express.js"],
    packages: ["express", "express-rate-limit", "zod"],
    runtime: "node",
  },
];

export const contenders: readonly Contender[] = [petstore, ...peers];

/** A peer that also does what ours does besides: log line, usage, request id, ETag, the other headers. */
export const dutiful = (name: string) => `${name}, same duties`;
export const dutifulPeers: readonly Contender[] = peers.map((peer) => ({
  ...peer,
  name: dutiful(peer.name),
  env: { DUTIES: "1", ...generous },
  isDutiful: true,
}));

/** Ours as it starts in a checkout. */
export const fromSource: Contender = {
  ...petstore,
  name: `${OURS}, from source`,
  command: ["./petstore", "serve", "--port", "0"],
};

/** The peers on our runtime, each compiled into one file with bytecode as ours is. */
export const oneFilePeers: readonly Contender[] = peers
  .filter(({ runtime }) => runtime === "bun")
  .map((peer) => ({
    ...peer,
    name: `${peer.name}, one file`,
    command: [join(import.meta.dir, `.tmp/${peer.name}`)],
    packages: [],
  }));

/** Everyone who is asked for everything; first those who do the same. */
export const everyone: readonly Contender[] = [petstore, ...dutifulPeers, ...peers];

/** The files that hold the programs of all of them. */
export const binaries: readonly string[] = [
  ...new Set(everyone.flatMap(({ command: [program] }) => program ?? [])),
];

/** Who is compared on PostgreSQL and Redis. */
export const scaledPetstore: Contender = { ...petstore, name: `${OURS}, PostgreSQL + Redis` };
export const scaledFastify: Contender = {
  name: "fastify, PostgreSQL + Redis",
  command: [node, "bench/peers/fastify-scaled.js"],
  packages: ["fastify", "@fastify/rate-limit", "ioredis", "pg"],
  runtime: "node",
};

export function startContender(
  servers: Servers,
  { command, env }: Contender,
  path: string,
  under: readonly string[] = [],
): Promise<Server> {
  return servers.start({ command: [...under, ...command], database: path, ...(env && { env }) });
}

/** An answer of ours that a floor repeats for ever. */
export interface Constant {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export async function constantOf(response: Response): Promise<Constant> {
  const own = [...response.headers].filter(([name]) => !["date", "content-length"].includes(name));
  return { status: response.status, body: await response.text(), headers: Object.fromEntries(own) };
}

/** A bare Bun.serve that answers everything with the constant: by a handler that runs for each request, or with none. */
export function bareBun(
  servers: Servers,
  kind: "handler" | "static",
  { status, body, headers }: Constant,
): Promise<Server> {
  const constant = [String(status), body, JSON.stringify(headers)];
  return servers.start({ command: [...bun, "bench/floor.ts", kind, ...constant] });
}

/** nginx, one process, returning the constant. */
export async function bareNginx(servers: Servers, folder: string, constant: Constant): Promise<Server> {
  const port = await freePort();
  const file = join(folder, `nginx-${port}.conf`);
  await Bun.write(file, nginxConfiguration(folder, port, constant));
  return servers.start({
    command: ["nginx", "-p", folder, "-e", "stderr", "-c", file],
    url: `http://127.0.0.1:${port}`,
  });
}

function nginxConfiguration(folder: string, port: number, { status, body, headers }: Constant): string {
  const { "content-type": type = "application/json", ...rest } = headers;
  const added = Object.entries(rest).map(([name, value]) => `add_header ${name} ${quoted(value)} always;`);
  return `
daemon off; master_process off; pid ${folder}/nginx-${port}.pid; error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000000; default_type ${type}; server_tokens off;
  client_body_temp_path ${folder}/nginx-body; proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi; uwsgi_temp_path ${folder}/nginx-uwsgi; scgi_temp_path ${folder}/nginx-scgi;
  server {
    listen 127.0.0.1:${port};
    ${added.join("\n    ")}
    location / { return ${status} ${quoted(body)}; }
  }
}
`;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&").replaceAll("$", "")}'`;
}
