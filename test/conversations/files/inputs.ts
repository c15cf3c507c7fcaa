/** In-memory inputs for tests of file formats. */
import type { SourceRecord, Ticket } from '../../../src/conversations/model/ticket.ts';
import type { FileInput, ReadOptions } from '../../../src/conversations/sources/files/input.ts';
import { readTickets } from '../../../src/conversations/sources/files/read-tickets.ts';

/** A file in memory, delivered in chunks of `chunk` bytes. */
export function bytesInput(name: string, content: string | Uint8Array, chunk = 64 * 1024): FileInput {
  const bytes = Buffer.from(content as Uint8Array);
  return {
    name,
    async *open({ start, end } = { start: 0, end: bytes.length }) {
      for (let at = start; at < end; at += chunk) {
        yield bytes.subarray(at, Math.min(at + chunk, end));
      }
    },
  };
}

export async function read(
  name: string,
  content: string | Uint8Array,
  options: Partial<ReadOptions> = {},
  chunk?: number,
): Promise<SourceRecord[]> {
  const found: SourceRecord[] = [];
  for await (const record of readTickets(bytesInput(name, content, chunk), { account: 'acme', ...options })) {
    if (record.index !== found.length) {
      throw new Error(`index ${record.index} after ${found.length} records`);
    }
    found.push(record.found);
  }
  return found;
}

export function ticketsOf(found: readonly SourceRecord[]): Ticket[] {
  return found.flatMap((each) => (each.kind === 'ticket' ? [each.ticket] : []));
}

/** Short description of each record. */
export function outline(found: readonly SourceRecord[]): string[] {
  return found.map((each) => {
    switch (each.kind) {
      case 'ticket':
        return each.ticket.key;
      case 'skipped':
        return `${each.key} ${each.reason}`;
      case 'gone':
        return `${each.key} gone`;
      default:
        return `${each.place} ${each.reason}`;
    }
  });
}
