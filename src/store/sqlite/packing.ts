/** A message between the threads: JSON text where that says all of it, which costs less than a structured clone. */
export type Packed<T> = T | string;

export function packed<T extends object>(message: T): Packed<T> {
  return isPlain(message) ? JSON.stringify(message) : message;
}

export function unpacked<T extends object>(message: Packed<T>): T {
  return typeof message === "string" ? JSON.parse(message) : message;
}

/** Whether JSON says all of it: no large integers, no bytes. */
function isPlain(value: unknown): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === undefined || value === null)
    return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every((each) => each !== undefined && isPlain(each));
  if (typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const name in value) if (!isPlain(value[name as keyof typeof value])) return false;
  return true;
}
