// The thread of a backup or a restore, which nothing imports: it waits for long statements, so that the command can draw and hear signals.
import type { Diagnosis } from "../doctor.ts";
import { migrations } from "../migrations.ts";
import { sql } from "../statement.ts";
import { connect } from "./connection.ts";
import type { CopyJob, CopyOutcome } from "./copy.ts";
import { diagnoseFile, diagnoseOlder } from "./doctor.ts";
import { requireOurFile } from "./migrate.ts";

declare const self: Worker;

const vacuumInto = sql`vacuum into :file`;

self.onmessage = async ({ data: job }: MessageEvent<CopyJob>) => {
  try {
    tell({ done: await doneOf(job) });
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? error) as Error & { code?: string };
    tell({ failed: { code, message } });
  }
};

function doneOf(job: CopyJob): Promise<Diagnosis> | null {
  if ("check" in job) return diagnosis(job.check);
  return "checkpoint" in job ? checkpointed(job.checkpoint) : copied(job.from, job.to);
}

function tell(outcome: CopyOutcome<Diagnosis | null>): void {
  self.postMessage(outcome);
}

function copied(from: string, to: string): null {
  const db = connect(from, "read");
  try {
    // The file itself stays open for reading only; what is written is the copy.
    db.exec("pragma query_only = 0");
    db.run(vacuumInto, { file: to });
    return null;
  } finally {
    db.close();
  }
}

function checkpointed(path: string): null {
  const db = connect(path, "write");
  try {
    db.rows("pragma wal_checkpoint(passive)");
    return null;
  } finally {
    db.close();
  }
}

async function diagnosis(file: string): Promise<Diagnosis> {
  const db = connect(file, "read");
  try {
    return await (requireOurFile(db) < migrations.length ? diagnoseOlder(db) : diagnoseFile(db));
  } finally {
    db.close();
  }
}
