/** Number of dead letters in one list: the default, and the maximum. */
export const LISTED = { usual: 1000, most: 100_000 } as const;
