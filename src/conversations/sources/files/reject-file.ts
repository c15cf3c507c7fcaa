/** Files that list the rejected records of another file. */
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readRegularFile } from '../../../core/files/disk.ts';
import { rejectionOf, type TicketRecord } from './input.ts';

const END = '.rejects.ndjson';

/** Reports whether a name is that of a reject file, which is never ingested. */
export function isRejectFile(name: string): boolean {
  return name.endsWith(END);
}

/** Returns the reject file of a file, next to it or in `folder`: `tickets.csv.rejects.ndjson` for `tickets.csv`. */
export function rejectFileOf(path: string, folder: string | null = null): string {
  return join(folder ?? dirname(path), `${basename(path)}${END}`);
}

/**
 * Appends rejected and empty records, with line number and reason but without content. Durable when it resolves. Returns
 * their number. Throws the errors of the file system.
 */
export async function appendRejects(path: string, records: readonly TicketRecord[]): Promise<number> {
  const lines = records.flatMap((record) => {
    const rejection = rejectionOf(record);
    return rejection === null ? [] : [lineOf(rejection.line, record.index, rejection.reason)];
  });
  if (lines.length > 0) {
    await append(path, lines.join(''));
  }
  return lines.length;
}

/** Size of the largest reject file that is searched for an existing entry, in bytes. */
const MAX_SEARCHED_SIZE = 64 * 1024;

/**
 * Writes the reason why a file is rejected as a whole, unless the reject file contains it: every start finds the file
 * again. Throws the errors of the file system.
 */
export async function noteRefusal(path: string, reason: string): Promise<void> {
  const line = lineOf(1, 0, reason);
  const kept = await stat(path).then(
    ({ size }) =>
      size <= MAX_SEARCHED_SIZE ? readRegularFile(path, { limit: MAX_SEARCHED_SIZE }).toString('utf8') : line,
    () => '',
  );
  if (!kept.includes(line)) {
    await append(path, line);
  }
}

function lineOf(line: number, record: number, reason: string): string {
  return `${JSON.stringify({ line, record, reason })}\n`;
}

/** Flags that refuse links and FIFOs, which anyone who can write to the directory could create. */
const FLAGS =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

async function append(path: string, text: string): Promise<void> {
  const file = await open(path, FLAGS, 0o600);
  try {
    if (!(await file.stat()).isFile()) {
      throw new Error('it is not a regular file');
    }
    await file.appendFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
