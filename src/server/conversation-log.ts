import type { ConversationEvents, SenderState } from '../conversations/model/events.ts';
import type { Logger } from '../log.ts';
import { RejectLog } from './reject-log.ts';

/** Tells the log what becomes of conversations: numbers and reasons, and no word of what is in them. */
export function logConversations(log: Logger): ConversationEvents {
  let sender: SenderState['kind'] = 'idle';
  const failing = new Map<string, string>();
  const rejects = new RejectLog(log);
  return {
    onTaken: ({ source, found, waiting, unchanged, rejected, skipped, redacted }) => {
      const words = { source, found, waiting, unchanged, rejected, skipped, redacted };
      log[waiting > 0 ? 'info' : 'debug'](words, `${source}: ${found} found, ${waiting} to send`);
      rejects.endBatch(source);
    },
    onRejected: ({ source, place, reason }) => rejects.reject(source, place, reason),
    onFilesEnd: ({ source }) => rejects.end(source),
    onShortfall: ({ source, key, reported, fetched }) =>
      log.warn(
        { source, key, reported, fetched },
        `${source}: ${key} has ${reported} parts, and ${fetched} were given`,
      ),
    onPressure: ({ source, isFull }) =>
      log[isFull ? 'warn' : 'info'](
        { source },
        isFull ? `${source} waits: the outbox is full` : `${source} goes on: the outbox has room again`,
      ),
    onPollEnd: ({ source, error, again }) => {
      rejects.end(source);
      const before = failing.get(source);
      if (error === null) {
        failing.delete(source);
        log[before === undefined ? 'debug' : 'info']({ source, again }, `${source}: polled`);
      } else {
        failing.set(source, error.message);
        const level = before === error.message ? 'debug' : 'error';
        log[level]({ source, again, code: error.code }, `${source}: the poll failed: ${error.message}`);
      }
    },
    onSent: ({ items, bytes }) => log.info({ items, bytes }, `${items} conversations sent`),
    onDoubt: ({ items, times, reason }) =>
      log.warn({ items, times }, `the answer for ${items} conversations was lost, and they go again: ${reason}`),
    onRefused: ({ source, key, reason }) =>
      log.error({ source, key }, `${key} is refused, and kept as a dead letter: ${reason}`),
    onSenderState: (state) => {
      const isNews = state.kind !== sender;
      sender = state.kind;
      if ('reason' in state) {
        log[isNews ? (state.kind === 'refused' ? 'error' : 'warn') : 'debug'](senderWords(state));
      }
    },
    onDestination: ({ kind, site }) => {
      if (kind === 'context-records') {
        log.warn({ site }, `this platform has no conversations: they go to the site ${site} as its context records`);
      } else {
        log.debug('conversations go to the organization');
      }
    },
  };
}

/** What a sender's state means for whoever runs it. */
export function senderWords(state: SenderState): string {
  switch (state.kind) {
    case 'failing':
      return `the platform takes no conversations now, and is tried again: ${state.reason}`;
    case 'refused':
      return `the platform does not let this token send conversations: ${state.reason}`;
    case 'unsupported':
      return `this platform takes no conversations; what is found waits in the outbox: ${state.reason}`;
    case 'sending':
      return 'sending';
    case 'idle':
      return 'nothing to send';
    default:
      return 'stopped';
  }
}

/** Tells every listener, in order. */
export function combineConversationEvents(listeners: readonly ConversationEvents[]): ConversationEvents {
  return {
    onTaken: (told) => listeners.forEach((each) => void each.onTaken?.(told)),
    onRejected: (told) => listeners.forEach((each) => void each.onRejected?.(told)),
    onFilesEnd: (told) => listeners.forEach((each) => void each.onFilesEnd?.(told)),
    onShortfall: (told) => listeners.forEach((each) => void each.onShortfall?.(told)),
    onPressure: (told) => listeners.forEach((each) => void each.onPressure?.(told)),
    onPollEnd: (told) => listeners.forEach((each) => void each.onPollEnd?.(told)),
    onSent: (told) => listeners.forEach((each) => void each.onSent?.(told)),
    onDoubt: (told) => listeners.forEach((each) => void each.onDoubt?.(told)),
    onRefused: (told) => listeners.forEach((each) => void each.onRefused?.(told)),
    onSenderState: (told) => listeners.forEach((each) => void each.onSenderState?.(told)),
    onDestination: (told) => listeners.forEach((each) => void each.onDestination?.(told)),
  };
}
