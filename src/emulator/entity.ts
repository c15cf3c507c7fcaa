/**
 * What the emulator remembers. Records hold what was written; everything that follows from other records (counts,
 * addresses, permissions, `default` flags, processing states) is computed when it is read.
 */
export interface Entity {
  readonly id: string;
  /** Creation order over all kinds; lists page by it. */
  readonly seq: number;
}

/** `rank` is the place among siblings: display order, unique over all kinds. */
export interface Ranked extends Entity {
  readonly rank: number;
}

/** Work that ends at `due`; until then the resource says it is under way. */
export interface Run {
  readonly startedAt: number;
  readonly due: number;
}
