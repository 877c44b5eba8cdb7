/**
 * A text of Latin-1 in one piece, for texts that are made once and used by many answers. The runtime keeps a text that was put together as
 * its pieces until somebody reads it, and it is not read by being put into another: every answer would go through all pieces
 * of it again. What was cut out of a text keeps the whole of that in memory for as long as it lives.
 */
export function inOnePiece(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
