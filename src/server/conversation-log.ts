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

/** Rejected records of a source in one poll or push. */
interface Rejects {
  logged: number;
  unlogged: number;
  /** Files with records that are not logged. */
  readonly files: Set<string>;
  isOfFile: boolean;
}

/**
 * Logs records that cannot be read: the first few one by one, and the others as one line at the end of the poll or push.
 * A file with 100,000 broken records produces six log lines. Its reject file lists all records.
 */
class RejectLog {
  readonly #log: Logger;
  readonly #rejects = new Map<string, Rejects>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Reports a rejected record. `place` is `tickets.csv:17` for a record in a file. */
  reject(source: string, place: string, reason: string): void {
    const rejects = this.#rejects.get(source) ?? { logged: 0, unlogged: 0, files: new Set(), isOfFile: false };
    this.#rejects.set(source, rejects);
    const [, file] = /^(.*):\d+$/s.exec(place) ?? [];
    rejects.isOfFile ||= file !== undefined;
    if (rejects.logged < LOGGED) {
      rejects.logged += 1;
      this.#log.warn({ source, place, reason }, 'record rejected');
      return;
    }
    rejects.unlogged += 1;
    if (file !== undefined) {
      rejects.files.add(file);
    }
  }

  /** Ends a batch that did not come from a file: no end of a poll or push follows. */
  endBatch(source: string): void {
    if (this.#rejects.get(source)?.isOfFile === false) {
      this.end(source);
    }
  }

  /** Ends a poll or a push. */
  end(source: string): void {
    const { unlogged: records = 0, files = new Set() } = this.#rejects.get(source) ?? {};
    this.#rejects.delete(source);
    if (records > 0) {
      const rejectFiles = [...files].slice(0, NAMED).map((file) => `${file}.rejects.ndjson`);
      const fields = files.size === 0 ? {} : { rejectFiles, moreRejectFiles: files.size - rejectFiles.length };
      this.#log.warn({ source, records, ...fields }, 'more records rejected');
    }
  }
}
