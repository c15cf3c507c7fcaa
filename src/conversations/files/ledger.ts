import { z } from 'zod';
import type { Json } from '../../core/json.ts';

/** How far a drop folder was read. Files are known by what is in them, whatever they are called. */
export interface Ledger {
  /** Digests of files that were read to their end, the latest last. */
  readonly done: readonly string[];
  /** The file that was being read, and how many of its records are durable. */
  readonly file: { readonly digest: string; readonly index: number } | null;
}

/** As many files as are remembered: one that was forgotten is read again, and what has not changed is not sent again. */
const MOST_DONE = 4000;

const schema = z.object({
  done: z.array(z.string()),
  file: z.object({ digest: z.string(), index: z.number() }).nullable(),
});

/** The ledger that a cursor is; an empty one where the cursor is null or of another source. */
export function ledgerOf(cursor: Json): Ledger {
  const parsed = schema.safeParse(cursor);
  return parsed.success ? parsed.data : { done: [], file: null };
}

export function cursorOf({ done, file }: Ledger): Json {
  return { done, file };
}

/** Read up to a record, without it. */
export function upTo(ledger: Ledger, digest: string, index: number): Ledger {
  return { done: ledger.done, file: { digest, index } };
}

/** Read to the end. */
export function toTheEnd(ledger: Ledger, digest: string): Ledger {
  return { done: [...ledger.done.filter((each) => each !== digest), digest].slice(-MOST_DONE), file: null };
}
