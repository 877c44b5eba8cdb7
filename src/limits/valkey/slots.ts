/** What a cluster divides its keys into. */
export const SLOTS = 16_384;

const POLYNOMIAL = 0x1021;
const remainders = Uint16Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 8;
  for (let bit = 0; bit < 8; bit++) remainder = (remainder << 1) ^ (remainder & 0x8000 ? POLYNOMIAL : 0);
  return remainder;
});

/** The slot of a key: CRC16 (XMODEM) of its hash tag, or of all of it if it has none. */
export function slotOf(name: string): number {
  const open = name.indexOf("{");
  const close = open < 0 ? -1 : name.indexOf("}", open);
  const [from, to] = close > open + 1 ? [open + 1, close] : [0, name.length];
  let crc = 0;
  for (let index = from; index < to; index++)
    crc = ((crc << 8) & 0xffff) ^ (remainders[((crc >> 8) ^ name.charCodeAt(index)) & 0xff] as number);
  return crc % SLOTS;
}
