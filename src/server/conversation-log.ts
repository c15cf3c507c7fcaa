/** Log lines about the ingestion of conversations. */
import type { ConversationEvents, SenderState } from '../conversations/model/source.ts';
import type { Logger } from '../log.ts';

/** Logs the ingestion of conversations: numbers and reasons, never their content. */
export function logConversations(log: Logger): ConversationEvents {
  let sender: SenderState['kind'] = 'idle';
  const failing = new Map<string, string>();
  const rejects = new RejectLog(log);
  return {
    onIntake: ({ source, found, waiting, unchanged, rejected, skipped, redacted }) => {
      const counts = { source, found, waiting, unchanged, rejected, skipped, redacted };
      log[waiting > 0 ? 'info' : 'debug'](counts, 'conversations read');
      rejects.endBatch(source);
    },
    onRejected: ({ source, place, reason }) => rejects.reject(source, place, reason),
    onFilesEnd: ({ source }) => rejects.end(source),
    onShortfall: ({ source, key, reported, fetched }) =>
      log.warn({ source, key, reported, fetched }, 'conversation incomplete: fewer parts received than reported'),
    onPressure: ({ source, isFull }) =>
      log[isFull ? 'warn' : 'info'](
        { source },
        isFull ? 'outbox full; polling paused' : 'outbox has room again; polling resumed',
      ),
    onPollEnd: ({ source, error, again }) => {
      rejects.end(source);
      const before = failing.get(source);
      if (error === null) {
        failing.delete(source);
        log[before === undefined ? 'debug' : 'info']({ source, again }, 'poll completed');
      } else {
        failing.set(source, error.message);
        const level = before === error.message ? 'debug' : 'error';
        log[level]({ source, again, code: error.code, reason: error.message }, 'poll failed');
      }
    },
    onSent: ({ items, bytes }) => log.info({ items, bytes }, 'conversations sent'),
    onDoubt: ({ items, times, reason }) =>
      log.warn({ items, times, reason }, 'no response for a batch of conversations; retrying'),
    onRefused: ({ source, key, reason }) =>
      log.error({ source, key, reason }, 'conversation refused by the platform; kept as a dead letter'),
    onSenderState: (state) => {
      const isNew = state.kind !== sender;
      sender = state.kind;
      if ('reason' in state) {
        const level = isNew ? (state.kind === 'refused' ? 'error' : 'warn') : 'debug';
        log[level]({ state: state.kind, reason: state.reason }, SENDER_STATES[state.kind]);
      }
    },
    onThreadsUnavailable: ({ reason }) =>
      log.warn({ reason }, 'cannot start a redaction thread; the main thread redacts everything for a minute'),
    onDestination: ({ kind, site }) => {
      if (kind === 'context-records') {
        log.warn({ site }, 'the platform has no conversations; sending context records to the site');
      } else {
        log.debug('sending conversations to the organization');
      }
    },
  };
}

const SENDER_STATES: Readonly<Record<SenderState['kind'], string>> = {
  failing: 'the platform does not accept conversations at the moment; retrying',
  refused: 'the token is not allowed to send conversations',
  unsupported: 'nothing can be sent; conversations wait in the outbox',
  sending: 'sending',
  idle: 'nothing to send',
  stopped: 'stopped',
};

/** Describes a sender's state, with its reason, for the output of commands. */
export function senderWords(state: SenderState): string {
  const words = SENDER_STATES[state.kind];
  return 'reason' in state ? `${words}: ${state.reason}` : words;
}

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
class RejectLog {
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
