import { Command } from "commander";
import { copyThread } from "../files.ts";
import { migrations } from "../store/migrations.ts";
import { Damaged } from "../store/move/moving.ts";
import { backUpStore, isPostgres, restoreStore } from "../store/open.ts";
import type { Watch } from "../store/sqlite/copy.ts";
import type { Restored } from "../store/sqlite/restore.ts";
import { progress } from "./progress.ts";
import { complain, DAMAGE_EXIT, Exit, print, Refused, time } from "./say.ts";
import { configOf, requireDatabase, requireNoImport, sameStore, withSettings } from "./settings.ts";
import { untilStopped } from "./signals.ts";

/** What stands for standard output elsewhere: a copy of a database cannot go there. */
const STREAM = "-";

interface Options {
  readonly force?: true;
  readonly json?: true;
}

/** `petstore backup`: a copy of the database file, proven, beside a running server. */
export function backupCommand(): Command {
  const command = new Command("backup")
    .description(
      "Copy the database file as it is at one moment, and prove the copy; a server may be running.",
    )
    .argument("<file>", "A new file, beside which there must be room for the copy.")
    .option("--force", "Replace the file if it is there.")
    .option("--no-check", "Leave the proof out: quicker, and also for a store that is damaged.")
    .option("--json", "Print JSON.")
    .addHelpText(
      "after",
      `
Examples:
  petstore backup /backups/petstore.db
  petstore backup "/backups/petstore-$(date +%F).db" --json
  petstore backup latest.db --force

The copy has its name only when it is on disk and proven to be whole; one that is interrupted never looks like a backup.
It is readable by its owner only. 'petstore restore' puts it back.
A backup is for the same store on the same engine; to go to another engine use 'petstore export'. On PostgreSQL use pg_dump.
Exit code 3 means that the store is damaged; no backup was made then.`,
    )
    .action(async (file: string, { force, check, json, ...options }: Options & { check: boolean }) => {
      if (file === STREAM)
        throw new Refused("A backup goes to a file; 'petstore export -' writes to standard output.");
      const { databaseUrl } = configOf(options);
      requireFile(databaseUrl, "backup", "pg_dump makes a backup of it");
      requireDatabase({ databaseUrl });
      await requireNoImport({ databaseUrl });
      const done = await watched((stop, watch) =>
        backUpStore(databaseUrl, file, {
          isForced: force === true,
          isChecked: check,
          thread: copyThread,
          watch,
          stop,
        }),
      ).catch((error) => {
        const remedy =
          "No backup was made. 'petstore doctor' tells all; --no-check copies the store as it is.";
        throw damageTold(error, `${databaseUrl} is damaged`, remedy);
      });
      const { bytes, counts, migration, lastEventAt } = done;
      const summary = { file, bytes, migration, lastEventAt: time(lastEventAt), isChecked: check, counts };
      const verdict = check ? " Nothing is wrong with them." : " They were not checked.";
      print(
        json === true,
        summary,
        `Backed up ${sentence(counts)} to ${file} (${megabytes(bytes)} MB).${verdict}`,
      );
    });
  return withSettings(command, ["databaseUrl"]);
}

/** `petstore restore`: a backup in the place of the database file. */
export function restoreCommand(): Command {
  const command = new Command("restore")
    .description("Put a backup in the place of the database file: all of it, proven to be whole, or nothing.")
    .argument("<file>", "A file that 'petstore backup' made.")
    .option("--force", "Where there is a store already: keep it under another name.")
    .option("--json", "Print JSON.")
    .addHelpText(
      "after",
      `
Examples:
  petstore restore /backups/petstore.db
  petstore restore /backups/petstore.db --force
  petstore restore /backups/petstore.db --database-url /tmp/drill.db

The server must be stopped. The backup itself stays as it is. One of an older version is brought up to date by the next start.
For a file that 'petstore export' made use 'petstore import'. On PostgreSQL use pg_restore.
Exit code 3 means that the backup is damaged; nothing was changed then.`,
    )
    .action(async (file: string, { force, json, ...options }: Options) => {
      const { databaseUrl } = configOf(options);
      requireFile(databaseUrl, "restore", "pg_restore fills it from a dump");
      await requireNoImport({ databaseUrl });
      const now = Date.now();
      const done = await watched((stop, watch) =>
        restoreStore(databaseUrl, file, { isForced: force === true, thread: copyThread, watch, stop, now }),
      ).catch((error) => {
        throw damageTold(error, `${file} is damaged`, "Nothing was changed. Take another backup.");
      });
      const { counts, migration, lastEventAt, keptAside, isBeyond } = done;
      const summary = {
        file,
        database: databaseUrl,
        migration,
        lastEventAt: time(lastEventAt),
        keptAside,
        isBeyond,
        counts,
      };
      const lines = [
        `Restored ${sentence(counts)} to ${databaseUrl}. Nothing is wrong with them.`,
        ...(keptAside === null ? [] : [`The store that was there is kept as ${keptAside}.`]),
        ...advice(databaseUrl, done),
      ];
      print(json === true, summary, lines);
    });
  return withSettings(command, ["databaseUrl"]);
}

function advice(databaseUrl: string, { migration, lastEventAt, isBeyond }: Restored): string[] {
  return [
    ...(lastEventAt === null ? [] : [`The last event of the backup is of ${time(lastEventAt)}.`]),
    "",
    "Think of:",
    isBeyond
      ? "- Orders since the backup are gone; new ones have other numbers."
      : "- Orders since the backup are gone, and their numbers are given again: the store that gave them was not there to be read, or another was in its place.",
    `- Keys made since then are unknown, admin.key perhaps among them: petstore keys create --role admin${sameStore({ databaseUrl })}`,
    "- Keys revoked and bans imposed since then are as before: revoke and impose them once more.",
    "- Bans lifted since then are in force again: lift them once more.",
    "- Webhooks are as they were, and deliveries that were pending then are sent again; WEBHOOKS=off sends none.",
    "- Events go on with higher numbers; who has read events since the backup is told to begin anew.",
    "- Everybody signs in to the console anew.",
    "- Limits count on from the backup; counts in Valkey are not part of it.",
    ...(migration < migrations.length
      ? [
          `- Its tables have migration ${migration} of ${migrations.length}: the next start brings them up to date.`,
        ]
      : []),
  ];
}

function requireFile(databaseUrl: string, command: string, instead: string): void {
  if (isPostgres(databaseUrl))
    throw new Refused(
      `'petstore ${command}' is for a database that is a file, and DATABASE_URL is PostgreSQL. There ${instead}; 'petstore export' and 'petstore import' move a store between engines.`,
    );
}

/** Does it with a bar at a terminal, until it is done or the process is told to stop. */
function watched<T>(work: (stop: AbortSignal, watch: Watch) => Promise<T>): Promise<T> {
  return untilStopped(async (stop) => {
    const isTerminal = process.stderr.isTTY === true;
    let bar = progress("bytes", 0);
    stop.addEventListener("abort", () => bar.end());
    try {
      return await work(stop, {
        total: (bytes) => {
          bar = progress("bytes", bytes);
        },
        added: (bytes) => bar.add(bytes),
        checking: () => {
          bar.end();
          if (isTerminal) process.stderr.write("checking ...");
        },
      });
    } finally {
      bar.end();
    }
  });
}

/** Damage is told by its first finding, with the exit code of the doctor. */
function damageTold(error: unknown, what: string, remedy: string): unknown {
  if (!(error instanceof Damaged)) return error;
  const [first] = error.findings;
  const more = error.findings.length > 1 ? `, and ${error.findings.length - 1} more` : "";
  complain(`${what}: it fails the check "${first?.check}": ${first?.message}${more}. ${remedy}`);
  return new Exit(DAMAGE_EXIT);
}

function sentence({ pets = 0, orders = 0, clients = 0 }: Readonly<Record<string, unknown>>): string {
  return `a store (pets: ${pets}, orders: ${orders}, clients: ${clients}, ...)`;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
