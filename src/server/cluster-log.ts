/** Log lines about the work on issue clusters. */
import type { ChangeRequestEvent, ClusterEvents, RunEnd } from '../clusters/events.ts';
import type { Logger } from '../log.ts';

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
