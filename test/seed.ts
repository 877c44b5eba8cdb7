/** Where tests draw by chance: the same every time, so that a red run is due to a change. `TEST_SEED=7 npm test` draws others. */
export const seed = Number(process.env.TEST_SEED ?? 20_261_115);
