/** Records of the log for the events of passes, conversations and clusters. What repeats is logged once. */

import type { ChangeRequestEvent, ClusterEvents, RunEnd } from '../clusters/events.ts';
import type { ConversationEvents, SenderState } from '../conversations/model/source.ts';
import { DesiredStateError, formatProblem } from '../core/errors.ts';
import type { Logger } from '../log.ts';
import { cooldownEnd, describeFlapping } from '../plan/flapping.ts';
import { summaryLine } from '../plan/render/text.ts';
import { shortApproval } from '../plan/render/words.ts';
import type { PassEvents } from '../reconcile/pass.ts';

/** Maximum number of problems of invalid manifests per log line. */
const LOGGED_PROBLEMS = 20;

/** Returns true if the text of a topic differs from the text before; empty at first. */
type HasChanged = (topic: 'source' | 'plan' | 'drift' | 'failure', text: string) => boolean;

/**
 * Logs the passes of an organization. A pass with nothing to do logs at the debug level only. A state that persists is
 * logged once, then at the debug level. `approve` returns the command that approves a checksum.
 */
export function logEvents(log: Logger, approve: (checksum: string) => string): PassEvents {
  const last = new Map<string, string>();
  const hasChanged: HasChanged = (topic, text) => {
    const before = last.get(topic) ?? '';
    last.set(topic, text);
    return before !== text;
  };
  return {
    onPassStart: (trigger) => log.debug({ trigger }, 'pass started'),
    onPlan: logPlan(log, hasChanged, approve),
    onBaseRestored: (commit, resources) =>
      log.warn({ commit, resources }, 'no local record; restored the base from the applied ref'),
    onRecordFailed: (error) =>
      log.warn({ reason: error.message }, 'cannot record the applied commit in the repository'),
    onWait: (reason) => log.info({ reason }, 'plan not applied now'),
    onResult: logResult(log),
    onFlapping: logFlapping(log),
    ...logSourceAndEnd(log, hasChanged),
  };
}

function logSourceAndEnd(
  log: Logger,
  hasChanged: HasChanged,
): Pick<PassEvents, 'onSource' | 'onBadSource' | 'onPassEnd'> {
  let badSource: Error | null = null;
  return {
    onSource: ({ commit, subject, forced, state }) => {
      log[hasChanged('source', '') ? 'info' : 'debug']({ commit, subject, files: state.files }, 'manifests read');
      if (forced) {
        log.warn({ commit }, 'branch was force-pushed');
      }
    },
    onBadSource: (error, lastValidCommit) => {
      badSource = error;
      const level = hasChanged('source', error.message) ? 'error' : 'debug';
      if (error instanceof DesiredStateError) {
        log[level]({ lastValidCommit, ...problemsOf(error) }, 'manifests are invalid; keeping the last valid commit');
      } else {
        log[level]({ lastValidCommit, reason: error.message }, 'cannot read manifests; keeping the last valid commit');
      }
    },
    onPassEnd: ({ outcome, milliseconds, requests, trigger, error, retryIn }) => {
      const fields = { trigger, outcome, seconds: Math.round(milliseconds) / 1000, requests, retryIn };
      if (error === null || (error instanceof DesiredStateError && error === badSource)) {
        const hasRecovered = outcome !== 'failed' && hasChanged('failure', '');
        log[hasRecovered || requests.writes > 0 ? 'info' : 'debug'](fields, 'pass completed');
        return;
      }
      const level = hasChanged('failure', error.message) ? 'error' : 'debug';
      if (error instanceof DesiredStateError) {
        // The manifests are readable, but fit neither the platform nor the other directories of the organization.
        log[level]({ ...fields, ...problemsOf(error) }, 'cannot plan the manifests; nothing is changed');
      } else {
        log[level]({ ...fields, reason: error.message }, 'pass failed');
      }
    },
  };
}

function problemsOf({ problems }: DesiredStateError): { readonly problems: readonly string[]; readonly more: number } {
  const shown = problems.slice(0, LOGGED_PROBLEMS).map(formatProblem);
  return { problems: shown, more: problems.length - shown.length };
}

/** Log level and message by result of a change. A held change is not logged again, because its plan was logged. */
const RESULTS = {
  applied: ['info', 'change applied'],
  failed: ['error', 'change failed'],
  skipped: ['info', 'change skipped'],
  held: null,
} as const;

function logResult(log: Logger): NonNullable<PassEvents['onResult']> {
  return ({ address, action, status, id, error, note }) => {
    const entry = RESULTS[status];
    if (entry !== null) {
      const [level, message] = entry;
      log[level]({ address, action, id, ...(error === null ? {} : { reason: error }) }, message);
    }
    if (note !== undefined) {
      log.warn({ address, action, id, reason: note }, 'the platform stored another value');
    }
  };
}

/** Logs a flapping field when it starts to flap, and after each further revert. */
function logFlapping(log: Logger): NonNullable<PassEvents['onFlapping']> {
  let known: ReadonlyMap<string, number> = new Map();
  return (flapping) => {
    const before = known;
    known = new Map(flapping.map(({ address, path, times }) => [`${address} ${path}`, times]));
    for (const field of flapping) {
      const { address, path, times, seen } = field;
      if (before.get(`${address} ${path}`) !== times) {
        const until = new Date(cooldownEnd(field)).toISOString();
        log.warn(
          { address, field: path, times, seen, until, reason: describeFlapping(field) },
          'field is flapping; reverting it again after a pause',
        );
      }
    }
  };
}

function logPlan(
  log: Logger,
  hasChanged: HasChanged,
  command: (checksum: string) => string,
): NonNullable<PassEvents['onPlan']> {
  return ({ plan }, drift) => {
    const { commit, checksum, changes, cost, verdict } = plan;
    const drifted = drift.map((change) => change.address);
    const driftLevel = hasChanged('drift', drifted.join()) ? 'warn' : 'debug';
    if (drifted.length > 0) {
      log[driftLevel]({ drift: drifted }, 'drift found');
    }
    const isNew = hasChanged('plan', changes.length === 0 ? '' : `${commit} ${checksum}`);
    const fields = { commit, checksum, requests: cost.requests, summary: summaryLine(plan) };
    log[isNew && changes.length > 0 ? 'info' : 'debug'](fields, 'plan created');
    const level = isNew ? 'warn' : 'debug';
    const held = changes.filter((change) => change.held !== null);
    if (verdict.state === 'refused') {
      log[level]({ reasons: verdict.reasons }, 'plan refused');
    } else if (verdict.state === 'held') {
      log[level](
        { reasons: verdict.reasons, approve: command(shortApproval(checksum)) },
        'plan held until it is approved',
      );
    } else if (held.length > 0) {
      const approve = held.some((change) => change.approvable)
        ? command(shortApproval(plan.heldChecksum ?? checksum))
        : undefined;
      log[level]({ held: held.map(({ address, held }) => `${address}: ${held}`), approve }, 'changes held');
    }
  };
}

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

type StaticEvent = Exclude<keyof ClusterEvents, 'onRead' | 'onSkipped' | 'onRunEnd'>;
type Details<Name extends keyof ClusterEvents> = Parameters<NonNullable<ClusterEvents[Name]>>[0];

/** Level, message and fields of the events that are always logged the same way. */
const ENTRIES: {
  readonly [Name in StaticEvent]: readonly ['info' | 'warn', string, (details: Details<Name>) => object];
} = {
  onOpened: ['info', 'change request opened', withReason],
  onWouldOpen: [
    'info',
    'change request would be opened (dry run)',
    ({ cluster, label, space, subject, why }) => ({
      cluster,
      label: short(label),
      space,
      subject: short(subject),
      reason: oneLine(why),
    }),
  ],
  onMerged: ['info', 'change request merged', (merged) => ({ ...fieldsOf(merged), isEmpty: merged.isEmpty })],
  onArchived: ['info', 'change request archived by a person; it will not be replaced', fieldsOf],
  onReopened: ['info', 'change request reopened', fieldsOf],
  onSuperseded: ['info', 'draft superseded and archived', withReason],
  onCommented: ['info', 'progress comment posted', fieldsOf],
  onMuted: ['info', 'cluster muted after the merge', ({ cluster, label }) => ({ cluster, label: short(label) })],
  onUnmuted: ['info', 'cluster unmuted: the time for which it was muted has ended', ({ cluster }) => ({ cluster })],
  onTrouble: ['warn', 'problem with issue clusters', ({ cluster, message }) => ({ cluster, reason: oneLine(message) })],
};

/** Logs the work on issue clusters. Text from the platform is reduced to one line. */
export function logClusters(log: Logger): ClusterEvents {
  /** Reasons of the clusters that the last complete run and this one skipped. */
  let before = new Map<string, string>();
  let current = new Map<string, string>();
  const logRunEnd = runEndLog(log);
  return {
    ...Object.fromEntries(
      Object.entries(ENTRIES).map(([name, [level, message, fields]]) => [
        name,
        (details: never) => log[level](fields(details), message),
      ]),
    ),
    // At the info level when the reason changes.
    onSkipped: ({ cluster, label, reason, why }) => {
      const isNew = before.get(cluster) !== reason;
      current.set(cluster, reason);
      log[isNew ? 'info' : 'debug']({ cluster, label: short(label), reason, why: oneLine(why) }, 'cluster skipped');
    },
    onRunEnd: (end) => {
      before = end.outcome === 'done' ? current : before;
      current = new Map();
      logRunEnd(end);
    },
  };
}

/** Logs the end of each run: changes at the info level or above, and repeated outcomes at the debug level. */
function runEndLog(log: Logger): (end: RunEnd) => void {
  let failing: string | null = null;
  let source: RunEnd['source'] = 'clusters';
  let isSupported = true;
  return (end) => {
    if (end.outcome === 'unsupported') {
      const reason = end.error?.message ?? 'this platform has no issue clusters';
      log[isSupported ? 'warn' : 'debug']({ reason }, 'issue clusters are not supported; checking again later');
      isSupported = false;
      return;
    }
    isSupported = true;
    const reason = end.error?.message ?? null;
    if (reason !== null) {
      log[reason !== failing ? 'error' : 'debug']({ reason }, 'issue cluster run failed');
    } else {
      const hasChanged = failing !== null || end.opened > 0 || end.source !== source;
      log[hasChanged ? 'info' : 'debug'](numbersOf(end), 'issue cluster run completed');
      source = end.source;
    }
    failing = reason;
  };
}

function withReason(event: ChangeRequestEvent & { readonly why: string }): object {
  return { ...fieldsOf(event), reason: oneLine(event.why) };
}

function fieldsOf({ cluster, label, request, space, url }: ChangeRequestEvent): object {
  return { cluster, label: short(label), changeRequest: request, space, url };
}

function numbersOf(end: RunEnd): object {
  const { source, read, passing, opened, superseded, commented, skipped, open, requests, dryRun } = end;
  return { source, read, passing, opened, superseded, commented, skipped, open, requests, dryRun };
}

const MAX_LENGTH = 120;

/** Truncates a text to one line of at most `MAX_LENGTH` characters. */
function short(text: string): string {
  const line = oneLine(text);
  return line.length > MAX_LENGTH ? `${[...line].slice(0, MAX_LENGTH - 1).join('')}…` : line;
}

/** Converts a text to one line: without control characters, line breaks and changes of the reading direction. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]+/gu, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
}
