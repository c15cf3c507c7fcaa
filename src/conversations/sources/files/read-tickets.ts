import { extname } from 'node:path';
import { messageOf, SourceError } from '../../../core/errors.ts';
import { isLfsPointer, LFS_POINTER } from '../../../core/files/lfs-pointer.ts';
import type { SourceRecord } from '../../model/ticket.ts';
import { readCsv } from './formats/csv.ts';
import { asUtf8, type FileInput, fileInput, firstBytes, NOT_REGULAR } from './formats/input.ts';
import { readJson, readNdjson } from './formats/json.ts';
import { readEml, readMbox } from './formats/mailbox.ts';
import { type Format, type ReadOptions, rejected, type TicketRecord } from './formats/record.ts';

/** Number of bytes that are read to detect the format of a file. */
const HEAD_SIZE = 1024 * 1024;
const READERS: Readonly<Record<Format, (input: FileInput, options: ReadOptions) => AsyncGenerator<SourceRecord>>> = {
  json: readJson,
  ndjson: readNdjson,
  csv: readCsv,
  eml: readEml,
  mbox: readMbox,
};
const EXTENSIONS: Readonly<Record<string, Format>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.csv': 'csv',
  '.tsv': 'csv',
  '.eml': 'eml',
  '.mbox': 'mbox',
};

/**
 * Reads the tickets of a file of any size one by one. An invalid record is yielded as rejected, with its line, and
 * reading continues after it. An unreadable file is one rejected record. Throws SourceError if reading fails in the
 * middle.
 */
export async function* readTickets(source: string | FileInput, options: ReadOptions): AsyncGenerator<TicketRecord> {
  const input = typeof source === 'string' ? fileInput(source) : source;
  let index = 0;
  let head: Buffer;
  try {
    head = await firstBytes(input, HEAD_SIZE);
  } catch (error) {
    yield { index, found: rejected(input.name, 1, `cannot be read: ${codeOf(error)}`) };
    return;
  }
  if (isLfsPointer(head.toString('latin1', 0, 64))) {
    yield { index, found: rejected(input.name, 1, LFS_POINTER) };
    return;
  }
  const format = await formatOf(input.name, head, options.format);
  if (typeof format === 'object') {
    yield { index, found: rejected(input.name, 1, format.problem) };
    return;
  }
  try {
    for await (const found of READERS[format](input, options)) {
      yield { index, found };
      index += 1;
    }
    if (index === 0) {
      yield { index, found: rejected(input.name, 1, 'has no record') };
    }
  } catch (error) {
    throw isOfDisk(error)
      ? new SourceError(`${input.name}: cannot be read: ${messageOf(error)}`, { cause: error })
      : error;
  }
}

function isOfDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string' && 'syscall' in error;
}

function codeOf(error: unknown): string {
  const code = isOfDisk(error) ? error.code : undefined;
  const known: Readonly<Record<string, string>> = {
    EACCES: 'no permission (EACCES)',
    EPERM: 'no permission (EPERM)',
    EISDIR: 'it is a directory',
    [NOT_REGULAR]: 'it is not a regular file',
    ENOENT: 'file not found',
  };
  return known[code ?? ''] ?? code ?? 'the disk failed';
}

/** Returns the format of a file: the given one, by its extension, or by its first bytes. */
async function formatOf(name: string, head: Buffer, given: Format | undefined): Promise<Format | { problem: string }> {
  if (head.length === 0) {
    return { problem: 'the file is empty' };
  }
  const extension = EXTENSIONS[extname(name).toLowerCase()];
  const isMail = extension === 'eml' || extension === 'mbox' || given === 'eml' || given === 'mbox';
  const text = (await textOfHead(head))?.replace(/\r\n?/g, '\n') ?? null;
  if (text === null && !isMail) {
    return { problem: 'is not text; it looks like an archive or another binary file' };
  }
  return given ?? extension ?? formatOfText(text ?? '') ?? { problem: 'is not JSON, NDJSON, CSV, eml or mbox' };
}

/** Decodes the first bytes of a file; null if they are not text. */
async function textOfHead(head: Buffer): Promise<string | null> {
  async function* once() {
    yield head;
  }
  const pieces: Buffer[] = [];
  for await (const piece of asUtf8(once())) {
    pieces.push(piece);
  }
  const bytes = Buffer.concat(pieces);
  return bytes.subarray(0, 64 * 1024).includes(0) ? null : bytes.toString('utf8');
}

function formatOfText(text: string): Format | null {
  const start = text.trimStart();
  if (start.startsWith('[') || start.startsWith('{')) {
    return isLineByLine(start) ? 'ndjson' : 'json';
  }
  if (/^From \S/.test(start)) {
    return 'mbox';
  }
  if (/^[!-9;-~]+:[ \t]/.test(start) && /^(?:from|message-id|received|return-path|date):/im.test(start)) {
    return 'eml';
  }
  const line = start.slice(0, Math.max(0, start.indexOf('\n')));
  return /[,;\t]/.test(line) ? 'csv' : null;
}

/** Reports whether JSON has one record per line, as exports named `.json` often have. */
function isLineByLine(text: string): boolean {
  const [first = '', ...rest] = text.split('\n', 1000).map((line) => line.trim());
  if (!first.startsWith('{') || /^\{\s*"(?:tickets|conversations)"\s*:/.test(first)) {
    return false;
  }
  return isJson(first) ? rest.some((line) => line.startsWith('{')) : /[^[{,:]$/.test(first) && rest[0]?.[0] === '{';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
