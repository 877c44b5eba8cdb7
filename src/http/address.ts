import { BlockList, isIP } from "node:net";

/** Which proxies are believed: a number of them in front of us, or their networks. */
export type TrustedProxies = number | readonly string[];

/** The network address that a request without a valid key is counted against. */
export function addressReader(
  trusted: TrustedProxies,
): (peer: string, forwardedFor: string | null) => string {
  const isTrusted = truster(trusted);
  return (peer, forwardedFor) => {
    let address = plain(peer);
    if (forwardedFor === null) return grouped(address);
    // Each proxy adds at the end whom it heard from: from there backwards, as far as the speakers are believed.
    const said = forwardedFor.split(",").map((each) => plain(each.trim()));
    for (let hop = 0; said.length > 0 && isTrusted(address, hop); hop++) {
      const before = said.pop() as string;
      if (isIP(before) === 0) break;
      address = before;
    }
    // A copy: what is cut out of a header would keep the whole request in memory.
    return Buffer.from(grouped(address)).toString();
  };
}

/** Whether the one at the other end of a connection is a proxy that is believed. */
export function trustsPeer(trusted: TrustedProxies): (peer: string) => boolean {
  const isTrusted = truster(trusted);
  return (peer) => isTrusted(plain(peer), 0);
}

function truster(trusted: TrustedProxies): (address: string, hop: number) => boolean {
  return typeof trusted === "number" ? (_address, hop) => hop < trusted : inNetworks(trusted);
}

function inNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    list.addSubnet(address, Number(bits ?? (family === "ipv4" ? 32 : 128)), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

/** An IPv4 address that came over IPv6 is the IPv4 address; brackets and ports go. */
function plain(address: string): string {
  if (!address.includes(":")) return address;
  const bare = address.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
  const mapped = /^(?:0{0,4}:){2,5}:?ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i.exec(
    bare,
  );
  if (!mapped) return bare;
  const [, dotted, high = "", low = ""] = mapped;
  const bits = [high, low].map((each) => Number.parseInt(each, 16));
  return dotted ?? bits.flatMap((each) => [each >> 8, each & 255]).join(".");
}

/** An IPv6 user has a whole /64 to call from, so that is what is counted. */
function grouped(address: string): string {
  if (!address.includes(":") || isIP(address) !== 6) return address;
  const [head = "", tail = ""] = address.split("%")[0]?.split("::") ?? [];
  const front = head.split(":").filter(Boolean);
  const back = tail.split(":").filter(Boolean);
  const zeros = address.includes("::")
    ? new Array(Math.max(0, 8 - front.length - back.length)).fill("0")
    : [];
  const parts = [...front, ...zeros, ...back].slice(0, 4);
  return `${parts.map((part) => Number.parseInt(part, 16).toString(16)).join(":")}::/64`;
}
