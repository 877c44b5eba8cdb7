import { expect, test } from "bun:test";
import { isAddress, isPublicAddress } from "../../src/core/public-addresses.ts";

const refused = {
  "this network": ["0.0.0.0", "0.1.2.3", "0.255.255.255"],
  "private networks": [
    "10.0.0.0",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.255.255",
  ],
  "carriers' networks": ["100.64.0.0", "100.127.255.255"],
  loopback: ["127.0.0.1", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1", "::"],
  "link-local": ["169.254.0.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "febf::1"],
  "addresses for documents and tests": [
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.9",
    "198.18.0.1",
    "198.19.255.255",
    "2001:db8::1",
    "3fff::1",
    "3fff:fff:ffff::1",
  ],
  "protocol assignments": ["192.0.0.1", "192.0.0.170", "192.88.99.1", "2001::1", "2001:1::1", "2001:20::1"],
  "multicast and the rest": ["224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "ff02::1"],
  "unique local": ["fc00::1", "fd12:3456:789a::1", "fdff::1"],
  "mapped IPv4": ["::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:7f00:1", "::127.0.0.1", "::ffff:0:8.8.8.8"],
  "translated IPv4": [
    "64:ff9b::7f00:1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:808:808::1",
  ],
  "discarded and unassigned": ["100::1", "4000::1", "8000::1", "1::1", "5f00::1"],
  "what is no address": [
    "",
    "localhost",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "1.2.3.-4",
    "2606:4700::1::2",
    "g::1",
    ":::",
    "1:2:3:4:5:6:7",
    "2606:4700:1:2:3:4:5:6:7",
    "12345::",
  ],
};

for (const [what, addresses] of Object.entries(refused)) {
  test(`${what}: not public`, () => {
    for (const address of addresses) expect([address, isPublicAddress(address)]).toEqual([address, false]);
  });
}

test("addresses at the edges of what is not public are public", () => {
  for (const address of [
    "1.0.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2001:db7:ffff::1",
    "2001:db9::1",
    "2003::1",
    "2606:4700:4700::1111",
    "3ffe:ffff::1",
    "3fff:1000::1",
    "2606:4700:4700:0:0:0:8.8.8.8",
  ])
    expect([address, isPublicAddress(address)]).toEqual([address, true]);
});

test("an address of a URL is recognised however it was written, and a name is none", () => {
  const hosts = [
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://[::ffff:127.0.0.1]/",
  ];
  for (const url of hosts) {
    const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
    expect([url, isAddress(host), isPublicAddress(host)]).toEqual([url, true, false]);
  }
  expect(["shop.example", "1.example", "a:b"].map(isAddress)).toEqual([false, false, false]);
});
