// Who is signed in to the console is known to every instance, and so is who no longer is.
import { expect, test } from "bun:test";
import { eventually } from "../cli/command.ts";
import { instances } from "./instances.ts";

const WITHIN_MS = 1000;
const ours = { "x-petstore-console": "1" };

test("a session of one instance holds at another, and ends there within a second of signing out or revoking its key", async () => {
  await using shop = await instances(2);
  const [first, second] = shop.urls as [string, string];
  const { key, id } = (await (
    await shop.send("POST", "/admin/clients/1/keys", { role: "staff" })
  ).json()) as {
    key: string;
    id: number;
  };
  const signIn = async (sent: string) => {
    const headers = { ...ours, "x-api-key": sent };
    const response = await fetch(`${first}/console/session`, { method: "POST", headers });
    return (response.headers.get("set-cookie") ?? "").split(";")[0] as string;
  };
  const statusAt = async (url: string, cookie: string) =>
    (await fetch(`${url}/account`, { headers: { ...ours, cookie } })).status;
  const [leaving, revoked, staying] = [await signIn(shop.key), await signIn(key), await signIn(shop.key)];
  for (const cookie of [leaving, revoked, staying]) expect(await statusAt(second, cookie)).toBe(200);

  await fetch(`${first}/console/session`, { method: "DELETE", headers: { ...ours, cookie: leaving } });
  expect(await statusAt(first, leaving)).toBe(401);
  expect(await eventually(async () => (await statusAt(second, leaving)) === 401, WITHIN_MS)).toBe(true);
  await fetch(`${first}/admin/keys/${id}`, { method: "DELETE", headers: { "x-api-key": shop.key } });
  expect(await statusAt(first, revoked)).toBe(401);
  expect(await eventually(async () => (await statusAt(second, revoked)) === 401, WITHIN_MS)).toBe(true);
  for (const url of shop.urls) expect(await statusAt(url, staying)).toBe(200);
});
