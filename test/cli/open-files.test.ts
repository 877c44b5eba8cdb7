import { expect, test } from "bun:test";
import { aWire } from "../http/wire.ts";
import { aFolder, eventually, serving } from "./command.ts";

const OPEN_FILES = 60;
const MOST = OPEN_FILES / 2;
const ASKING = "GET /livez HTTP/1.1\r\nHost: petstore\r\n\r\n";

test("connections beyond the limit of open files are closed at once and told of; the others are answered, and later new ones", async () => {
  using folder = aFolder();
  const under = ["prlimit", `--nofile=${OPEN_FILES}`];
  await using server = await serving({ database: folder.database, under });
  using wires = new DisposableStack();
  const connect = async () => wires.use(await aWire(server.url));
  const first = [];
  for (let n = 0; n < MOST; n++) first.push(await connect());
  // Some callers learn of it as they connect, others when they listen.
  const heard = () =>
    connect().then(
      (wire) => wire.rest(),
      ({ code }) => code,
    );
  for (let n = 0; n < OPEN_FILES; n++) expect([[], "ECONNRESET"]).toContainEqual(await heard());
  for (const wire of first) {
    wire.say(ASKING);
    expect((await wire.answer()).status).toBe(200);
  }
  const told = () =>
    server
      .stdout()
      .split("\n")
      .filter((line) => line.includes("More connections came"))
      .map((line) => JSON.parse(line));
  const closed = () => told().reduce((sum, { connections }) => sum + connections, 0);
  expect(await eventually(() => closed() === OPEN_FILES, 3000)).toBe(true);
  expect(told()[0]).toMatchObject({ level: "warn", most: MOST });

  wires.dispose();
  expect(
    await eventually(
      async () => (await fetch(`${server.url}/livez`).catch(() => null))?.status === 200,
      3000,
    ),
  ).toBe(true);
  expect(await server.end("SIGTERM")).toBe(0);
});
