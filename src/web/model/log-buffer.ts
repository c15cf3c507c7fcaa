/** Latest records of the log, for the page of the log. */

/** A record of the log. Secrets are already removed. */
export interface LogRecord {
  /** Number of records before it since the daemon started. */
  readonly number: number;
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly level: RecordLevel;
  readonly message: string;
  /** Organization that the record is about; null if it is about the daemon. */
  readonly organization: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type RecordLevel = (typeof LOG_LEVELS)[number];

export interface LogFilter {
  /** Least severe level. */
  readonly level: RecordLevel;
  /** Selects by organization; null is the daemon. */
  includes(organization: string | null): boolean;
  /** Selects records before a number. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Maximum number of records, and of characters of all of them and of one. */
const MAX_RECORDS = 2000;
const MAX_CHARACTERS = 1_000_000;
const MAX_RECORD = 8000;

/** Bounded buffer of log records. Records stay text until they are read, because most never are. */
export class LogBuffer {
  /** Oldest first. */
  #lines: string[] = [];
  /** Index of the oldest record in `#lines`. */
  #start = 0;
  #characters = 0;
  #added = 0;

  /** Number of records since the daemon started. */
  get added(): number {
    return this.#added;
  }

  /** Adds a record as pino writes it; drops the oldest ones. */
  add(line: string): void {
    const kept = line.length > MAX_RECORD ? shortened(line) : line;
    this.#lines.push(kept);
    this.#characters += kept.length;
    this.#added += 1;
    while (this.#lines.length - this.#start > MAX_RECORDS || this.#characters > MAX_CHARACTERS) {
      this.#characters -= (this.#lines[this.#start] as string).length;
      this.#lines[this.#start] = '';
      this.#start += 1;
    }
    if (this.#start >= MAX_RECORDS) {
      this.#lines = this.#lines.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Returns the records that a filter selects, newest first. */
  read({ level, includes, before = Number.POSITIVE_INFINITY, limit }: LogFilter): readonly LogRecord[] {
    const least = LOG_LEVELS.indexOf(level);
    const found: LogRecord[] = [];
    for (let index = this.#lines.length - 1; index >= this.#start && found.length < limit; index -= 1) {
      const number = this.#added - (this.#lines.length - index);
      if (number < before) {
        const record = toRecord(number, this.#lines[index] as string);
        if (LOG_LEVELS.indexOf(record.level) >= least && includes(record.organization)) {
          found.push(record);
        }
      }
    }
    return found;
  }
}

function toRecord(number: number, line: string): LogRecord {
  const { level, time, msg, pid, hostname, organization, ...fields } = JSON.parse(line) as Record<string, unknown>;
  return {
    number,
    at: typeof time === 'string' ? time : '',
    level: LOG_LEVELS[Number(level) / 10 - 1] ?? 'info',
    message: typeof msg === 'string' ? msg : '',
    organization: typeof organization === 'string' ? organization : null,
    fields,
  };
}

/** Returns a long record without its fields. */
function shortened(line: string): string {
  const { level, time, msg, organization } = JSON.parse(line) as Record<string, unknown>;
  const message = typeof msg === 'string' ? msg.slice(0, MAX_RECORD / 2) : '';
  return JSON.stringify({ level, time, organization, omittedCharacters: line.length, msg: message });
}
