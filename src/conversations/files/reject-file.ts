import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FileRecord } from './record.ts';

const END = '.rejects.ndjson';

/** Whether a name is that of a reject file, which is never read as a file of tickets. */
export function isRejectFile(name: string): boolean {
  return name.endsWith(END);
}

/** Beside the file, or in `folder`: `tickets.csv` has `tickets.csv.rejects.ndjson`. */
export function rejectFileOf(path: string, folder: string | null = null): string {
  return join(folder ?? dirname(path), `${basename(path)}${END}`);
}

/**
 * Appends what was rejected, one line each with its line and its reason, never what it says; durable when it resolves.
 * Answers how many there were. Fails as the file system does.
 */
export async function appendRejects(path: string, records: readonly FileRecord[]): Promise<number> {
  const lines = records.flatMap(({ index, found }) => {
    if (found.kind !== 'rejected') {
      return [];
    }
    const line = Number(/:(\d+)$/.exec(found.place)?.[1] ?? 1);
    return [`${JSON.stringify({ line, record: index, reason: found.reason })}\n`];
  });
  if (lines.length > 0) {
    const file = await open(path, 'a', 0o600);
    try {
      await file.appendFile(lines.join(''));
      await file.sync();
    } finally {
      await file.close();
    }
  }
  return lines.length;
}
