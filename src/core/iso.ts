/** A time as the service tells it. */
export function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
