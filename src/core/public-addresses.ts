/** Networks of IPv4 that are not of the public Internet (IANA's registry of special addresses), multicast among them. */
const special4: readonly (readonly [network: string, bits: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** All that is public in IPv6 lies in 2000::/3: what is mapped, translated, local or multicast lies outside. These are exceptions within. */
const global6 = { network: "2000::", bits: 3 };
const special6: readonly (readonly [network: string, bits: number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

/** Whether an IP address is of the public Internet; what is no address is not. */
export function isPublicAddress(address: string): boolean {
  const four = bytesOf4(address);
  if (four) return !special4.some(([network, bits]) => isWithin(four, bytesOf4(network) ?? [], bits));
  const six = bytesOf6(address);
  if (!six || !isWithin(six, bytesOf6(global6.network) ?? [], global6.bits)) return false;
  return !special6.some(([network, bits]) => isWithin(six, bytesOf6(network) ?? [], bits));
}

/** Whether the text is an IP address, as the host of a URL has it. */
export function isAddress(text: string): boolean {
  return bytesOf4(text) !== null || bytesOf6(text) !== null;
}

function isWithin(address: readonly number[], network: readonly number[], bits: number): boolean {
  for (let at = 0; at * 8 < bits; at++) {
    const mask = (0xff << Math.max(0, 8 - (bits - at * 8))) & 0xff;
    if (((address[at] as number) & mask) !== ((network[at] as number) & mask)) return false;
  }
  return true;
}

function bytesOf4(text: string): number[] | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

/** Of an IPv6 address, a zone or an embedded IPv4 address included. */
function bytesOf6(text: string): number[] | null {
  const [address = ""] = text.split("%");
  const last = address.slice(address.lastIndexOf(":") + 1);
  const embedded = bytesOf4(last);
  const plain = embedded ? address.slice(0, -last.length) + groupsOf(embedded) : address;
  if (!/^[0-9a-f:]+$/i.test(plain) || plain.includes(":::")) return null;
  const [before = "", after, ...more] = plain.split("::");
  if (more.length > 0) return null;
  const left = before === "" ? [] : before.split(":");
  const right = after === undefined || after === "" ? [] : after.split(":");
  const missing = 8 - left.length - right.length;
  if (after === undefined ? missing !== 0 : missing < 1) return null;
  const groups = [...left, ...new Array(missing).fill("0"), ...right];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return groups.flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function groupsOf(bytes: readonly number[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
