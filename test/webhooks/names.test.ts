// Names of receivers, asked of a real name server: one that answers for some names and says nothing to others.
import { expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { getServers, setServers } from "node:dns";
import { WEBHOOKS_OF_A_CLIENT } from "../../src/contract/bounds.ts";
import { systemResolve } from "../../src/worker/webhooks.ts";
import { eventually } from "../cli/command.ts";
import { aStore } from "../harness.ts";
import { aHook, aReceiver, PRIVATE } from "./receiver.ts";

const HEADER_BYTES = 12;
const TYPE_A = 1;
const SOON_MS = 8000;
/** An answer to the question before it: an address, for a minute. */
const LOOPBACK = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);

interface NameServer extends AsyncDisposable {
  /** The names that it was asked for. */
  readonly asked: ReadonlySet<string>;
}

/** Leads `answered...` to the loopback, says nothing to all others, and is the one that this process asks. */
async function aNameServer(): Promise<NameServer> {
  const socket = createSocket("udp4");
  const asked = new Set<string>();
  socket.on("message", (question, { port, address }) => {
    const end = question.indexOf(0, HEADER_BYTES);
    // Each part of a name stands behind its length.
    const name = question
      .toString("latin1", HEADER_BYTES, end)
      .replace(/[^a-z\d-]/g, ".")
      .slice(1);
    asked.add(name);
    if (!name.startsWith("answered")) return;
    const isAsked = question.readUInt16BE(end + 1) === TYPE_A;
    const header = Buffer.from(question.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(isAsked ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const repeated = question.subarray(HEADER_BYTES, end + 5);
    socket.send(Buffer.concat([header, repeated, isAsked ? LOOPBACK : Buffer.alloc(0)]), port, address);
  });
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  const before = getServers();
  setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    asked,
    async [Symbol.asyncDispose]() {
      setServers(before);
      await new Promise<void>((closed) => socket.close(closed));
    },
  };
}

test("receivers whose name server says nothing hold up none whose name is known", async () => {
  await using names = await aNameServer();
  await using store = await aStore(PRIVATE, systemResolve);
  await using receiver = aReceiver();
  const { port } = new URL(receiver.url);
  const types = ["pet.created"];
  for (let n = 0; n < WEBHOOKS_OF_A_CLIENT; n++)
    await aHook(store.customer, { url: `http://silent-${n}.example:${port}/`, types });
  await store.aPet(1, "First");
  const silent = () => [...names.asked].filter((name) => name.startsWith("silent-"));
  expect(await eventually(() => silent().length === WEBHOOKS_OF_A_CLIENT, SOON_MS)).toBe(true);
  await aHook(store.stranger, { url: `http://answered.example:${port}/`, types });
  await store.aPet(1, "Second");
  expect((await receiver.nth(1)).event).toMatchObject({ type: "pet.created", data: { name: "Second" } });
  const waiting = await store.beside.db.rows(
    "select distinct webhook_id from webhook_deliveries where state = 'pending' and attempts = 0",
  );
  expect(waiting.length).toBeGreaterThanOrEqual(WEBHOOKS_OF_A_CLIENT);
});
