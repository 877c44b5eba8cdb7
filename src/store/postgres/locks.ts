/** Numbers of PostgreSQL's advisory locks, in a range that no other program is likely to use. */
export const ADVISORY_LOCKS = {
  migrations: 7_382_786_701,
  /** Held by what may not be done by two at once though it changes different rows: clients, keys, the first start. */
  access: 7_382_786_702,
} as const;
