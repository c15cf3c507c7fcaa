import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readRegularFile } from '../../../core/files/regular-file.ts';
import { rejectionOf, type TicketRecord } from './formats/record.ts';

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
 * Appends what was rejected or has nothing to say, one line each with its line and its reason, never what it says;
 * durable when it resolves.
 * Answers how many there were. Fails as the file system does.
 */
export async function appendRejects(path: string, records: readonly TicketRecord[]): Promise<number> {
  const lines = records.flatMap((record) => {
    const rejection = rejectionOf(record);
    return rejection === null
      ? []
      : [`${JSON.stringify({ line: rejection.line, record: record.index, reason: rejection.reason })}\n`];
  });
  if (lines.length > 0) {
    await append(path, lines.join(''));
  }
  return lines.length;
}

/** Larger reject files are not looked through. */
const LOOKED_THROUGH = 64 * 1024;

/** Notes why a file is not read at all, once: every start finds it again. Fails as the file system does. */
export async function noteRefusal(path: string, reason: string): Promise<void> {
  const line = `${JSON.stringify({ line: 1, record: 0, reason })}\n`;
  const kept = await stat(path).then(
    ({ size }) => (size <= LOOKED_THROUGH ? readRegularFile(path, { limit: LOOKED_THROUGH }).toString('utf8') : line),
    () => '',
  );
  if (!kept.includes(line)) {
    await append(path, line);
  }
}

/** Anyone who can put files into the folder could put a link or a FIFO in its place. */
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
