import type { Logger } from '../log.ts';

/** Number of rejected records of a source that are logged one by one, per poll or push. */
const LOGGED = 5;
/** Number of reject files that are named. */
const NAMED = 3;

interface Rest {
  logged: number;
  unlogged: number;
  /** The first few files with records that are not logged. */
  readonly files: string[];
  fileCount: number;
  lastFile: string | null;
  isOfFile: boolean;
}

/**
 * Logs records that cannot be read: the first few one by one, and the others as one line at the end of the poll or push.
 * A file with 100,000 broken records produces six log lines. Its reject file lists all records.
 */
export class RejectLog {
  readonly #log: Logger;
  readonly #rests = new Map<string, Rest>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Reports a rejected record. `place` is `tickets.csv:17` for a record in a file. */
  reject(source: string, place: string, reason: string): void {
    const rest = this.#rests.get(source) ?? {
      logged: 0,
      unlogged: 0,
      files: [],
      fileCount: 0,
      lastFile: null,
      isOfFile: false,
    };
    this.#rests.set(source, rest);
    const [, file = null] = /^(.*):\d+$/s.exec(place) ?? [];
    rest.isOfFile ||= file !== null;
    if (rest.logged < LOGGED) {
      rest.logged += 1;
      this.#log.warn({ source, place, reason }, 'record rejected');
      return;
    }
    rest.unlogged += 1;
    if (file === null || file === rest.lastFile) {
      return;
    }
    // Records arrive file by file.
    rest.lastFile = file;
    rest.fileCount += 1;
    if (rest.files.length < NAMED) {
      rest.files.push(file);
    }
  }

  /** Ends a batch that did not come from a file: no end of a poll or push follows. */
  endBatch(source: string): void {
    if (this.#rests.get(source)?.isOfFile === false) {
      this.end(source);
    }
  }

  /** Ends a poll or a push. */
  end(source: string): void {
    const rest = this.#rests.get(source);
    this.#rests.delete(source);
    if (rest !== undefined && rest.unlogged > 0) {
      const { unlogged: records, files, fileCount } = rest;
      const rejectFiles = files.map((file) => `${file}.rejects.ndjson`);
      const fields = fileCount === 0 ? {} : { rejectFiles, moreRejectFiles: fileCount - files.length };
      this.#log.warn({ source, records, ...fields }, 'more records rejected');
    }
  }
}
