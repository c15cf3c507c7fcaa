import type * as z from 'zod';
import { NotThePlatformError, RejectedError } from '../../core/errors.ts';
import type { SourceRecord } from './ticket.ts';

/**
 * Parses a response that later steps depend on, such as a page of tickets. Throws NotThePlatformError with the names of
 * the members that differ from the documentation, and without values.
 */
export function readAnswer<Schema extends z.ZodType>(schema: Schema, body: unknown, what: string): z.output<Schema> {
  const read = schema.safeParse(body);
  if (!read.success) {
    throw new NotThePlatformError(`${what}: ${membersOf(read.error)}`);
  }
  return read.data;
}

/** Error of a single ticket that cannot be read; others are not affected. */
class UnreadableRecord extends Error {}

/** Parses one record. Throws UnreadableRecord. */
export function readRecord<Schema extends z.ZodType>(schema: Schema, record: unknown): z.output<Schema> {
  const read = schema.safeParse(record);
  if (!read.success) {
    throw new UnreadableRecord(membersOf(read.error));
  }
  return read.data;
}

/** Returns the valid items of a list whose items are useful individually, such as people. */
export function validItems<Schema extends z.ZodType>(
  schema: Schema,
  list: readonly unknown[] | null | undefined,
): z.output<Schema>[] {
  return (list ?? []).flatMap((item) => {
    const read = schema.safeParse(item);
    return read.success ? [read.data] : [];
  });
}

/**
 * Reads one ticket. A permanent failure of this ticket alone becomes a rejection, so that the other tickets continue.
 * Any other failure is thrown. Source: docs/helpdesk-notes.md#delivery-rules
 */
export async function orRejected(place: string, read: () => Promise<SourceRecord>): Promise<SourceRecord> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UnreadableRecord || error instanceof RejectedError) {
      return { kind: 'rejected', place, reason: error.message };
    }
    throw error;
  }
}

/**
 * Reads all items concurrently, within the limits of the queue, and keeps their order. The first failure aborts the others
 * and is thrown when all have ended, so that an incomplete batch never counts as complete.
 */
export async function readAll<T, R>(
  items: readonly T[],
  signal: AbortSignal,
  read: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failure = new AbortController();
  const both = AbortSignal.any([signal, failure.signal]);
  let first: { readonly error: unknown } | null = null;
  const outcomes = await Promise.allSettled(
    items.map(async (item) => {
      try {
        return await read(item, both);
      } catch (error) {
        first ??= { error };
        failure.abort();
        throw error;
      }
    }),
  );
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') {
      throw first?.error ?? outcome.reason;
    }
    return outcome.value;
  });
}

function membersOf(error: z.ZodError): string {
  const members = [...new Set(error.issues.map(({ path }) => path.join('.') || 'all of it'))];
  return `not as documented: ${members.slice(0, 3).join(', ')}`;
}
