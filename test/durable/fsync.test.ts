import { Database } from "bun:sqlite";
import { beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { adminKey, aFolder, eventually, type Folder, type Served, serving } from "../cli/command.ts";
import { needed } from "../tools.ts";

// How the order of things is judged. strace writes one line when a system call of any thread starts and, if
// something else happened meanwhile, another when it returns; so the order of lines is the order of events.
// A commit is a run of writes to the -wal file. It counts as safe only when an fsync or fdatasync of that
// file, begun after the last of these writes, has RETURNED 0. A 201 counts as sent when the call that carries
// its first bytes to a socket BEGINS. One client sends one order at a time, so between a request and its 201 there
// must be a commit that is safe. With `synchronous` at NORMAL or OFF, or with an answer before its commit, there is
// none: the two controls below are such servers.

const ORDERS = 40;
const AT_ONCE = 200;
const SLOW_SYNC_MS = 200;
const TIME_LIMIT_MS = 30_000;
const LONG_LIMIT_MS = 90_000;

beforeAll(() => needed("strace"), 120_000);

const thousand = Array.from({ length: 1000 }, (_, n) => ({
  name: `Pet ${n}`,
  categoryId: 1,
  status: "available",
}));

/** What syncs are judged by: requests, the log and answers. */
const JUDGED_CALLS = "fsync,fdatasync,write,pwrite64,writev,pwritev,sendto,sendmsg,read,recvfrom,recvmsg";

test(
  "no 201 leaves before its commit is synced to disk",
  async () => {
    using folder = aFolder();
    await using server = await serving({ database: folder.database, under: tracer(folder) });
    const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
    for (let order = 0; order < ORDERS; order++) expect(await post(server, headers)).toBe(201);
    expect(await server.end("SIGTERM")).toBe(0);
    expect(await verdict(folder)).toEqual({ answers: ORDERS, early: [] });
  },
  TIME_LIMIT_MS,
);

test(
  "orders that come together share their syncs, and each is still answered after one",
  async () => {
    using folder = aFolder();
    await using server = await serving({ database: folder.database, under: tracer(folder) });
    const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
    const rounds = 3;
    for (let round = 0; round < rounds; round++) {
      const statuses = await Promise.all(Array.from({ length: AT_ONCE }, () => post(server, headers)));
      expect(new Set(statuses)).toEqual(new Set([201]));
    }
    expect(await server.end("SIGTERM")).toBe(0);
    const happened = await trace(folder);
    const first = happened.findIndex(({ kind }) => kind === "answer");
    const last = happened.findLastIndex(({ kind }) => kind === "answer");
    const before = happened.slice(0, first).filter(({ kind }) => kind === "synced");
    const syncs = happened.slice(first, last).filter(({ kind }) => kind === "synced").length + 1;
    expect(before.length).toBeGreaterThan(0);
    expect(syncs).toBeLessThan((rounds * AT_ONCE) / 4);
    expect(syncs).toBeGreaterThanOrEqual(rounds);
  },
  TIME_LIMIT_MS,
);

test(
  "on a slow disk the write waits for its sync, and no read waits with it",
  async () => {
    using folder = aFolder();
    const slowly = ["-e", `inject=fsync,fdatasync:delay_enter=${SLOW_SYNC_MS * 1000}`];
    const under = [...tracer(folder, "fsync,fdatasync"), ...slowly];
    await using server = await serving({ database: folder.database, under });
    const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
    for (let round = 0; round < 3; round++) {
      const started = performance.now();
      let readsBefore = 0;
      let isWritten = false;
      const writing = post(server, headers).then((status) => {
        isWritten = true;
        return status;
      });
      while (!isWritten && readsBefore < 10) {
        expect((await fetch(`${server.url}/store/orders`, { headers })).status).toBe(200);
        if (!isWritten) readsBefore += 1;
      }
      expect(await writing).toBe(201);
      expect(performance.now() - started).toBeGreaterThan(SLOW_SYNC_MS);
      // One may have come before the write; on a very busy machine there are not many more.
      expect(readsBefore).toBeGreaterThanOrEqual(2);
    }
    expect(await server.end("SIGTERM")).toBe(0);
  },
  TIME_LIMIT_MS,
);

test(
  "what is copied out of a long log is brought to the disk by a thread that no write waits for",
  async () => {
    using folder = aFolder();
    await using server = await serving({
      database: folder.database,
      under: tracer(folder, "fsync,fdatasync"),
    });
    const headers = { "x-api-key": adminKey(folder), "content-type": "application/json" };
    expect(await post(server, headers, "/categories", { name: "Dogs" })).toBe(201);
    const before = traced(folder).length;
    const syncers = (file: string) => threadsThatSync(file, traced(folder).slice(before));
    const write = async () => {
      for (let more = 0; more < 200 && syncers("petstore.db").size === 0; more++)
        expect(await post(server, headers, "/pets/batch", thousand)).toBe(201);
    };
    // Three callers, so that writes never pause: then the writer itself would copy all.
    await Promise.all([write(), write(), write()]);
    expect(syncers("petstore.db").size).toBeGreaterThan(0);
    const busy = new Set([...syncers("petstore.db-wal"), `${server.pid}`]);
    expect(syncers("petstore.db").intersection(busy)).toEqual(new Set());
    expect(await server.end("SIGTERM")).toBe(0);
  },
  LONG_LIMIT_MS,
);

test.each([
  ["our own", "fdatasync"],
  ["SQLite's", "fsync"],
])(
  "a disk that says to %s sync that it does not keep what was copied ends the server, and its next start has all that was answered",
  async (_, sync) => {
    using folder = aFolder();
    const headers = { "content-type": "application/json" };
    {
      await using server = await serving({ database: folder.database });
      Object.assign(headers, { "x-api-key": adminKey(folder) });
      expect(await post(server, headers, "/categories", { name: "Dogs" })).toBe(201);
      expect(await server.end("SIGTERM")).toBe(0);
    }
    let added = 0;
    {
      const failing = `strace -D -f --seccomp-bpf -qq -e trace=${sync} -e inject=${sync}:error=EIO`.split(
        " ",
      );
      const under = [...failing, "-P", folder.database, "-o", folder.file("trace")];
      await using server = await serving({ database: folder.database, under });
      const write = async () => {
        for (let more = 0; more < 200; more++) {
          if ((await post(server, headers, "/pets/batch", thousand)) !== 201) return;
          added += 1000;
        }
      };
      await Promise.allSettled([write(), write(), write()]);
      const isTold = () => server.stdout().includes("The disk did not keep what was written.");
      expect(await eventually(isTold, 5000)).toBe(true);
      // By a signal, and not by being told to stop.
      expect(await server.end("SIGTERM")).toBe(128);
    }
    await using server = await serving({ database: folder.database });
    expect((await fetch(`${server.url}/pets?limit=1`, { headers })).status).toBe(200);
    expect(added).toBeGreaterThan(1000);
    expect(petsIn(folder)).toBeGreaterThanOrEqual(added);
  },
  LONG_LIMIT_MS,
);

test.each([
  ["commits without a sync", "normal", false],
  ["answers before it commits", "full", true],
])(
  "the judge sees through a server that %s",
  async (_, synchronous, answersFirst) => {
    using folder = aFolder();
    const file = folder.file("control.ts");
    writeFileSync(file, control(folder.file("petstore.db"), synchronous, answersFirst));
    const command = [process.execPath, "--no-install", file];
    await using server = await serving({ database: "", command, under: tracer(folder) });
    for (let order = 0; order < 5; order++) expect(await post(server, {})).toBe(201);
    await server.end("SIGKILL");
    const { answers, early } = await verdict(folder);
    expect(answers).toBe(5);
    expect(early.length).toBeGreaterThanOrEqual(4);
  },
  TIME_LIMIT_MS,
);

/** The tracer is a process beside the traced one (-D), so that signals reach the server itself. */
function tracer(folder: Folder, calls = JUDGED_CALLS): string[] {
  const shown = ["-yy", "-s", "16", "-e", `trace=${calls}`];
  return ["strace", "-D", "-f", "--seccomp-bpf", ...shown, "-o", folder.file("trace")];
}

async function post(
  { url }: Served,
  headers: Record<string, string>,
  path = "/store/orders",
  body: unknown = {},
): Promise<number> {
  const request = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, request);
  await response.text();
  return response.status;
}

function petsIn(folder: Folder): number {
  using database = new Database(folder.database, { readonly: true });
  return Number(database.query("select count(*) from pets").values()[0]?.[0]);
}

function traced(folder: Folder): string {
  return readFileSync(folder.file("trace"), "utf8");
}

function threadsThatSync(file: string, trace: string): Set<string> {
  const syncs = trace.matchAll(new RegExp(`^(\\d+) .*f(data)?sync\\(\\d+<[^>]*/${file}>`, "gm"));
  return new Set(Array.from(syncs, ([, thread]) => thread as string));
}

interface Happening {
  /** The first bytes of a request, a write to the log, the start of its sync, its safe return, or the first bytes of a 201. */
  readonly kind: "request" | "write" | "syncing" | "synced" | "answer";
  readonly line: string;
}

/** What the trace tells of the log file and of answers, in the order that it happened. */
async function trace(folder: Folder): Promise<Happening[]> {
  await eventually(() => /\+\+\+ (exited|killed).*\n$/.test(traced(folder)), 5000);
  const syncing = new Set<string>();
  return traced(folder)
    .split("\n")
    .flatMap((line): Happening[] => {
      const thread = line.split(" ", 1)[0] as string;
      if (/ (pwrite64|write|pwritev|writev)\(\d+<[^>]*-wal>/.test(line)) return [{ kind: "write", line }];
      if (/ (sendto|sendmsg|write|writev)\(\d+<(TCP|socket)[^"]*"HTTP\/1.1 201/.test(line))
        return [{ kind: "answer", line }];
      if (/ (recvfrom|recvmsg|read)\(.*"POST /.test(line)) return [{ kind: "request", line }];
      if (/ f(data)?sync\(\d+<[^>]*-wal>/.test(line)) {
        if (!line.includes("<unfinished ...>"))
          return / = 0$/.test(line)
            ? [
                { kind: "syncing", line },
                { kind: "synced", line },
              ]
            : [];
        syncing.add(thread);
        return [{ kind: "syncing", line }];
      }
      if (/<\.\.\. f(data)?sync resumed>.* = 0$/.test(line) && syncing.delete(thread))
        return [{ kind: "synced", line }];
      return [];
    });
}

/**
 * How many 201s left, and which of them left before something was written, and then synced, since their request came. What the
 * server writes by itself, such as counts, may come between the sync and the answer.
 */
async function verdict(folder: Folder): Promise<{ answers: number; early: string[] }> {
  const early: string[] = [];
  let answers = 0;
  let commit: "none" | "written" | "syncing" | "synced" = "none";
  for (const { kind, line } of await trace(folder)) {
    if (kind === "request") commit = "none";
    else if (kind === "write" && commit === "none") commit = "written";
    else if (kind === "write" && commit === "syncing") commit = "written";
    else if (kind === "syncing" && commit === "written") commit = "syncing";
    else if (kind === "synced" && commit === "syncing") commit = "synced";
    else if (kind === "answer") {
      answers += 1;
      if (commit !== "synced") early.push(line);
      commit = "none";
    }
  }
  return { answers, early };
}

/** A server with a mistake: the wrong pragma, or an answer that does not wait. */
function control(database: string, synchronous: string, answersFirst: boolean): string {
  return `
    import { Database } from "bun:sqlite";
    const db = new Database(${JSON.stringify(database)});
    db.run("pragma journal_mode = wal");
    db.run("pragma synchronous = ${synchronous}");
    db.run("create table orders (id integer primary key)");
    const place = () => void db.run("insert into orders default values");
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch() {
      if (${answersFirst}) setTimeout(place, 2000); else place();
      return new Response("{}", { status: 201 });
    } });
    console.error("listening on http://127.0.0.1:" + server.port);`;
}
