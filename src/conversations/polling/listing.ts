/** Dead letters that are listed at once: where nothing is said, and as many as may be asked for. */
export const LISTED = { usual: 1000, most: 100_000 } as const;
