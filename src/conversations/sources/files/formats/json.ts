import { isObject } from '../../../../core/json.ts';
import type { SourceRecord } from '../../../model/ticket.ts';
import { ElementSplitter } from './elements.ts';
import { asUtf8, type FileInput, utf8Text } from './input.ts';
import { linesOf } from './lines.ts';
import { foundOfNative } from './native.ts';
import { largerThan, MAX_LENGTH, placed, type ReadOptions, rejected } from './record.ts';
import { foundOfExport } from './zendesk-export.ts';

const BROKEN_OFF = 'the file ends in the middle of it';

/** Reads NDJSON: each line is a record. */
export async function* readNdjson(input: FileInput, options: ReadOptions): AsyncGenerator<SourceRecord> {
  const longest = options.longest ?? MAX_LENGTH;
  for await (const lines of linesOf(asUtf8(input.open()), longest)) {
    for (const { number, bytes } of lines) {
      if (bytes === null || bytes.some((byte) => byte > 0x20)) {
        yield foundOf(bytes, number, input.name, options);
      }
    }
  }
}

/** Reads a JSON document: a record, an array of records, or an object with `tickets` or `conversations`. */
export async function* readJson(input: FileInput, options: ReadOptions): AsyncGenerator<SourceRecord> {
  const splitter = new ElementSplitter(options.longest ?? MAX_LENGTH);
  for await (const chunk of asUtf8(input.open())) {
    for (const { bytes, line } of splitter.push(chunk)) {
      yield foundOf(bytes, line, input.name, options);
    }
  }
  for (const { bytes, line, whole } of splitter.end()) {
    yield whole ? foundOf(bytes, line, input.name, options) : rejected(input.name, line, BROKEN_OFF);
  }
}

function foundOf(bytes: Buffer | null, line: number, name: string, options: ReadOptions): SourceRecord {
  if (bytes === null) {
    return rejected(name, line, largerThan(options.longest ?? MAX_LENGTH));
  }
  const text = utf8Text(bytes);
  if (text === null) {
    return rejected(name, line, 'is not UTF-8');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text.
    return rejected(name, line, 'is not valid JSON');
  }
  const found = isObject(value) ? foundOfObject(value, options.account) : null;
  if (found === null) {
    return rejected(name, line, 'is neither a conversation (id, parts) nor a Zendesk ticket (id, status, comments)');
  }
  return 'problem' in found ? rejected(name, line, found.problem) : placed(found, name, line);
}

function foundOfObject(value: Record<string, unknown>, account: string) {
  if ('parts' in value) {
    return foundOfNative(value, account);
  }
  return 'comments' in value || ('requester_id' in value && 'status' in value) ? foundOfExport(value, account) : null;
}
