import type { Logger } from '../log.ts';

/** Records of one source that are told one by one, in one poll or push. */
const TOLD = 5;
/** Reject files that are named. */
const NAMED = 3;

interface Rest {
  told: number;
  untold: number;
  /** The files that what is untold stands in, the first few of them. */
  readonly files: string[];
  fileCount: number;
  lastFile: string | null;
  isOfFile: boolean;
}

/**
 * Tells the log of records that cannot be read: the first few as they come, and the others together once the poll or
 * the push has ended. A file of a hundred thousand broken records is six lines; its reject file has them all.
 */
export class RejectLog {
  readonly #log: Logger;
  readonly #rests = new Map<string, Rest>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** `place`: `tickets.csv:17` where it is in a file. */
  reject(source: string, place: string, reason: string): void {
    const rest = this.#rests.get(source) ?? {
      told: 0,
      untold: 0,
      files: [],
      fileCount: 0,
      lastFile: null,
      isOfFile: false,
    };
    this.#rests.set(source, rest);
    const [, file = null] = /^(.*):\d+$/s.exec(place) ?? [];
    rest.isOfFile ||= file !== null;
    if (rest.told < TOLD) {
      rest.told += 1;
      this.#log.warn({ source, place }, `${source}: ${place}: ${reason}`);
      return;
    }
    rest.untold += 1;
    if (file === null || file === rest.lastFile) {
      return;
    }
    // They come one file after the other.
    rest.lastFile = file;
    rest.fileCount += 1;
    if (rest.files.length < NAMED) {
      rest.files.push(file);
    }
  }

  /** What came at once has all been told of; what is in no file has no end to wait for. */
  endBatch(source: string): void {
    if (this.#rests.get(source)?.isOfFile === false) {
      this.end(source);
    }
  }

  /** The poll or the push has ended. */
  end(source: string): void {
    const rest = this.#rests.get(source);
    this.#rests.delete(source);
    if (rest !== undefined && rest.untold > 0) {
      const records = rest.untold;
      this.#log.warn({ source, records }, `${source}: ${records} more cannot be read${whereOf(rest)}`);
    }
  }
}

function whereOf({ files, fileCount }: Rest): string {
  if (fileCount === 0) {
    return '';
  }
  const named = files.map((file) => `${file}.rejects.ndjson`).join(', ');
  const others = fileCount - files.length;
  return `; ${named}${others > 0 ? ` and ${others} more` : ''} beside what was read ${fileCount > 1 ? 'list' : 'lists'} them`;
}
