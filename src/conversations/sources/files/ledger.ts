import { z } from 'zod';
import type { Json } from '../../../core/json.ts';

/** Progress within one file. Files are identified by a digest of their content, not by name. */
export interface Ledger {
  /** The file that is partly read, and the number of its durable records, or null. */
  readonly file: { readonly digest: string; readonly index: number } | null;
}

const schema = z.object({ file: z.object({ digest: z.string(), index: z.number() }).nullable() });

/** Parses a cursor. Returns an empty ledger if the cursor is null or belongs to another source. */
export function ledgerOf(cursor: Json): Ledger {
  const parsed = schema.safeParse(cursor);
  return parsed.success ? parsed.data : { file: null };
}

export function cursorOf({ file }: Ledger): Json {
  return { file };
}
