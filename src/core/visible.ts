/** Control characters, what separates lines, and what turns the direction of reading. */
const unseen = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A line for people as it is. What callers chose may be in it: nothing of that moves the cursor, begins a line, or hides the rest. */
export function visible(line: string): string {
  return line.replace(unseen, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
