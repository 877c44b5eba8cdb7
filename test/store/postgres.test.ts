import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { sharedPostgres } from "../servers/postgres.ts";
import { aStoreSuite } from "./conformance.ts";

aStoreSuite("postgres", async () => {
  const server = await sharedPostgres();
  const url = await server.newStore();
  const store = await openPostgresStore(url, 0);
  const other = await openPostgresStore(url, 0);
  return {
    reads: store.reads,
    otherReads: other.reads,
    transact: store.transact,
    findings: async () => (await store.diagnose()).findings,
    close: async () => {
      await store.close();
      await other.close();
    },
  };
});
