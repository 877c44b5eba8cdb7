import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../src/store/sqlite/connection.ts";
import { diagnoseFile } from "../../src/store/sqlite/doctor.ts";
import { openStore } from "../../src/store/sqlite/store.ts";
import { reads } from "../../src/store/store.ts";
import { aStoreSuite } from "./conformance.ts";

aStoreSuite("sqlite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-sqlite-"));
  const path = join(folder, "petstore.db");
  const store = openStore(path, 0);
  const reader = connect(path, "read");
  return {
    reads: store.reads,
    otherReads: reads(reader),
    transact: store.transact,
    findings: async () => (await diagnoseFile(store.db)).findings,
    close: async () => {
      reader.close();
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
