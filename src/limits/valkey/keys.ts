/** The names of the keys in Valkey; `../KEYS.md` says what each holds. What one script touches has one hash tag. */
export interface KeyNames {
  windows(clientId: number): string;
  conduct(clientId: number, keyId: number): string;
  questions(clientId: number, keyId: number): string;
  address(bucket: string): string;
  /** One of many, so that each node of a cluster has one. */
  probe(number: number): string;
}

export function keyNames(prefix: string): KeyNames {
  return {
    windows: (clientId) => `${prefix}{client:${clientId}}:windows`,
    conduct: (clientId, keyId) => `${prefix}{client:${clientId}}:key:${keyId}`,
    questions: (clientId, keyId) => `${prefix}{client:${clientId}}:key:${keyId}:questions`,
    address: (bucket) => `${prefix}{address:${bucket}}:windows`,
    probe: (number) => `${prefix}{probe${number === 0 ? "" : `:${number}`}}`,
  };
}
