// Rehearsals are asked for by a header.
export const QUOTA = { perMinute: 50, perDay: 500 };

export function simulate(what: string): { prefer: string } {
  return { prefer: `simulate=${what}` };
}
