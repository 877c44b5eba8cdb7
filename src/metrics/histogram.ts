/** So many observations up to each bound, those above the last, and the sum of all: one row of numbers, so that to observe makes nothing. */
export function newRow(bounds: readonly number[]): Float64Array {
  return new Float64Array(bounds.length + 2);
}

export function observe(row: Float64Array, bounds: readonly number[], value: number): void {
  let bucket = 0;
  while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
  row[bucket] = (row[bucket] as number) + 1;
  const sum = bounds.length + 1;
  row[sum] = (row[sum] as number) + value;
}
