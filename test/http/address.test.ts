import { expect, test } from "bun:test";
import { readConfig, WrongSettings } from "../../src/config.ts";
import { addressReader, type TrustedProxies } from "../../src/http/address.ts";
import { aStore } from "../harness.ts";

interface Case {
  readonly what: string;
  readonly trusted: TrustedProxies;
  readonly peer: string;
  readonly said: string | null;
  readonly is: string;
}

const cases: readonly Case[] = [
  {
    what: "nobody is believed by default",
    trusted: 0,
    peer: "203.0.113.9",
    said: "1.1.1.1",
    is: "203.0.113.9",
  },
  { what: "nothing said is the peer", trusted: 1, peer: "203.0.113.9", said: null, is: "203.0.113.9" },
  {
    what: "one proxy is believed about whom it heard from",
    trusted: 1,
    peer: "10.0.0.1",
    said: "1.1.1.1",
    is: "1.1.1.1",
  },
  {
    what: "what a caller says in front of one proxy is not believed",
    trusted: 1,
    peer: "10.0.0.1",
    said: "6.6.6.6, 1.1.1.1",
    is: "1.1.1.1",
  },
  {
    what: "two proxies are believed one after the other",
    trusted: 2,
    peer: "10.0.0.1",
    said: "6.6.6.6, 1.1.1.1, 10.0.0.2",
    is: "1.1.1.1",
  },
  {
    what: "with fewer proxies than are believed, the first that was named is the caller",
    trusted: 3,
    peer: "10.0.0.1",
    said: "1.1.1.1",
    is: "1.1.1.1",
  },
  {
    what: "a peer outside the networks is not believed",
    trusted: ["10.0.0.0/8"],
    peer: "203.0.113.9",
    said: "1.1.1.1",
    is: "203.0.113.9",
  },
  {
    what: "a peer inside the networks is believed",
    trusted: ["10.0.0.0/8"],
    peer: "10.200.0.1",
    said: "1.1.1.1",
    is: "1.1.1.1",
  },
  {
    what: "the chain is followed through the networks only",
    trusted: ["10.0.0.0/8", "192.168.7.7"],
    peer: "192.168.7.7",
    said: "6.6.6.6, 1.1.1.1, 10.0.0.2",
    is: "1.1.1.1",
  },
  {
    what: "the edge of a network is in it",
    trusted: ["10.0.0.0/9"],
    peer: "10.127.255.255",
    said: "1.1.1.1",
    is: "1.1.1.1",
  },
  {
    what: "the address past the edge is not",
    trusted: ["10.0.0.0/9"],
    peer: "10.128.0.0",
    said: "1.1.1.1",
    is: "10.128.0.0",
  },
  {
    what: "a single address is a network of one",
    trusted: ["192.168.7.7"],
    peer: "192.168.7.8",
    said: "1.1.1.1",
    is: "192.168.7.8",
  },
  {
    what: "a caller inside the networks is the caller",
    trusted: ["10.0.0.0/8"],
    peer: "10.0.0.1",
    said: "10.0.0.7",
    is: "10.0.0.7",
  },
  {
    what: "an IPv6 proxy is believed by its network",
    trusted: ["fd00::/8"],
    peer: "fd12::1",
    said: "1.1.1.1",
    is: "1.1.1.1",
  },
  {
    what: "an IPv6 proxy outside its network is not",
    trusted: ["fd00::/8"],
    peer: "2001:db8::1",
    said: "1.1.1.1",
    is: "2001:db8:0:0::/64",
  },
  {
    what: "an IPv4 proxy that comes over IPv6 is believed by its IPv4 network",
    trusted: ["10.0.0.0/8"],
    peer: "::ffff:10.0.0.1",
    said: "1.1.1.1",
    is: "1.1.1.1",
  },
  {
    what: "what is no address ends the chain at who said it",
    trusted: 2,
    peer: "10.0.0.1",
    said: "1.1.1.1, unknown",
    is: "10.0.0.1",
  },
  {
    what: "nonsense ends it too",
    trusted: ["10.0.0.0/8"],
    peer: "10.0.0.1",
    said: "1.1.1.1, <script>",
    is: "10.0.0.1",
  },
  { what: "an empty header says nothing", trusted: 1, peer: "10.0.0.1", said: "", is: "10.0.0.1" },
  { what: "an empty entry says nothing", trusted: 1, peer: "10.0.0.1", said: "1.1.1.1,", is: "10.0.0.1" },
  { what: "spaces do not matter", trusted: 1, peer: "10.0.0.1", said: " 6.6.6.6 ,\t1.1.1.1 ", is: "1.1.1.1" },
  {
    what: "a port is not part of an address",
    trusted: 1,
    peer: "10.0.0.1",
    said: "1.1.1.1:4711",
    is: "1.1.1.1",
  },
  {
    what: "neither is the port of an IPv6 address",
    trusted: 1,
    peer: "10.0.0.1",
    said: "[2001:db8:1:2:3::4]:4711",
    is: "2001:db8:1:2::/64",
  },
  {
    what: "brackets alone go too",
    trusted: 1,
    peer: "10.0.0.1",
    said: "[2001:db8:1:2:3::4]",
    is: "2001:db8:1:2::/64",
  },
];

for (const { what, trusted, peer, said, is } of cases)
  test(`${what}: ${peer} says ${JSON.stringify(said)}, trusted ${JSON.stringify(trusted)}`, () =>
    expect(addressReader(trusted)(peer, said)).toBe(is));

const read = addressReader(0);
const own = (address: string) => read(address, null);

test("all addresses of an IPv6 /64 are one, however they are written", () => {
  const same = [
    "2001:db8:1:2::1",
    "2001:db8:1:2::",
    "2001:0DB8:0001:0002:ffff:FFFF:ffff:ffff",
    "2001:db8:1:2:3:4:5:6",
    "2001:db8:1:2::3:4",
    "2001:db8:1:2:3::",
    "2001:db8:1:2::203.0.113.9",
    "2001:db8:1:2::1%eth0",
  ];
  expect(new Set(same.map(own)).size).toBe(1);
});

test("addresses of different IPv6 networks are different", () => {
  const others = [
    "2001:db8:1:2::1",
    "2001:db8:1:3::1",
    "2001:db8:1::1",
    "2001:db8::1",
    "2001:db8:0:1::1",
    "2001::db8:1:2:1",
    "::1",
    "1::",
    "fe80::1",
  ];
  expect(new Set(others.map(own)).size).toBe(others.length);
});

test("an IPv4 address is itself, also when it comes over IPv6, however that is written", () => {
  const same = [
    "203.0.113.9",
    "::ffff:203.0.113.9",
    "::FFFF:203.0.113.9",
    "0:0:0:0:0:ffff:203.0.113.9",
    "::ffff:cb00:7109",
    "0000:0000:0000:0000:0000:ffff:cb00:7109",
  ];
  expect(same.map(own)).toEqual(same.map(() => "203.0.113.9"));
  expect(own("::ffff:203.0.113.10")).not.toBe(own("::ffff:203.0.113.9"));
});

test("a believed proxy with a zone in its address, or none that is known, is no trouble", () => {
  for (const trusted of [1, ["fe80::/10", "10.0.0.0/8"]] as const) {
    expect(addressReader(trusted)("fe80::1%eth0", "1.1.1.1")).toBe("1.1.1.1");
    expect(typeof addressReader(trusted)("unknown", "1.1.1.1")).toBe("string");
  }
  expect(addressReader(["10.0.0.0/8"])("unknown", "1.1.1.1")).toBe("unknown");
});

test("TRUST_PROXY is a number of proxies or networks, and nothing else", () => {
  const trusted = (text: string) => readConfig({ TRUST_PROXY: text }).trustProxy;
  expect(readConfig({}).trustProxy).toBe(0);
  expect(trusted("2")).toBe(2);
  expect(trusted("10.0.0.0/8, fd00::/8,192.168.7.7")).toEqual(["10.0.0.0/8", "fd00::/8", "192.168.7.7"]);
  expect(trusted("")).toBe(0);
  for (const wrong of [
    " ",
    "-1",
    "1.5",
    "101",
    "true",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0/8",
    "::1/129",
    "a,b",
    "1,10.0.0.0/8",
    "10.0.0.0/8/8",
  ])
    expect(() => trusted(wrong)).toThrow(WrongSettings);
});

/** How much the network address of a request without a key has left. */
async function leftOf(
  store: Awaited<ReturnType<typeof aStore>>,
  forwardedFor?: string,
): Promise<string | null> {
  const headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
  return (await store.nobody.get("/pets", headers)).headers.get("x-ratelimit-remaining");
}

test("without a believed proxy, no header gives a caller another address", async () => {
  await using store = await aStore({ ANONYMOUS_PER_MINUTE: "5" });
  const said = [undefined, "1.1.1.1", "2.2.2.2, 3.3.3.3", "2001:db8::1"];
  expect(await Promise.all(said.map((each) => leftOf(store, each)))).toHaveLength(4);
  expect(await leftOf(store, "4.4.4.4")).toBe("0");
  expect((await store.nobody.get("/pets", { "x-forwarded-for": "5.5.5.5" })).status).toBe(429);
  expect((await store.nobody.get("/pets", { forwarded: "for=6.6.6.6", "x-real-ip": "6.6.6.6" })).status).toBe(
    429,
  );
});

test("behind one believed proxy every caller has its own count, which a caller cannot choose", async () => {
  await using store = await aStore({ ANONYMOUS_PER_MINUTE: "5", TRUST_PROXY: "1" });
  expect(await leftOf(store, "1.1.1.1")).toBe("4");
  expect(await leftOf(store, "6.6.6.6, 1.1.1.1")).toBe("3");
  expect(await leftOf(store, "7.7.7.7, 1.1.1.1:99")).toBe("2");
  expect(await leftOf(store, "::ffff:1.1.1.1")).toBe("1");
  expect(await leftOf(store, "2.2.2.2")).toBe("4");
  expect(await leftOf(store, "2001:db8:1:2::1")).toBe("4");
  expect(await leftOf(store, "2001:db8:1:2:ffff::1")).toBe("3");
  expect(await leftOf(store, "2001:db8:1:3::1")).toBe("4");
  expect(await leftOf(store)).toBe("4");
});

test("a proxy in a believed network is heard, and one outside is not", async () => {
  await using inside = await aStore({ ANONYMOUS_PER_MINUTE: "5", TRUST_PROXY: "127.0.0.0/8, ::1" });
  expect([await leftOf(inside, "1.1.1.1"), await leftOf(inside, "2.2.2.2")]).toEqual(["4", "4"]);
  await using outside = await aStore({ ANONYMOUS_PER_MINUTE: "5", TRUST_PROXY: "10.0.0.0/8" });
  expect([await leftOf(outside, "1.1.1.1"), await leftOf(outside, "2.2.2.2")]).toEqual(["4", "3"]);
});

test("a valid key is never counted against an address", async () => {
  await using store = await aStore({ ANONYMOUS_PER_MINUTE: "5", TRUST_PROXY: "1" });
  for (let each = 0; each < 10; each++)
    expect((await store.customer.get("/pets", { "x-forwarded-for": "1.1.1.1" })).status).toBe(200);
  expect(await leftOf(store, "1.1.1.1")).toBe("4");
});
