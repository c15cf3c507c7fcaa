import type { ChangeRequestEvent, ClusterEvents, RunEnd } from '../clusters/run/events.ts';
import type { Logger } from '../log.ts';

/** Logs the work on issue clusters. Texts from the platform are kept in one line. */
export function logClusters(log: Logger): ClusterEvents {
  let failing: string | null = null;
  let source: RunEnd['source'] = 'clusters';
  let isSupported = true;
  let skipped = new Map<string, string>();
  let skips = new Map<string, string>();
  return {
    onOpened: (told) => log.info({ ...fieldsOf(told), reason: oneLine(told.why) }, 'change request opened'),
    onWouldOpen: ({ cluster, label, space, subject, why }) =>
      log.info(
        { cluster, label: short(label), space, subject: short(subject), reason: oneLine(why) },
        'change request would be opened (dry run)',
      ),
    onMerged: (told) =>
      log.info(
        fieldsOf(told),
        told.isEmpty ? 'change request merged without any edit; another may be opened' : 'change request merged',
      ),
    onArchived: (told) => log.info(fieldsOf(told), 'change request archived by a person; no other is opened'),
    onReopened: (told) => log.info(fieldsOf(told), 'change request reopened'),
    onSuperseded: (told) => log.info({ ...fieldsOf(told), reason: oneLine(told.why) }, 'draft superseded and archived'),
    onCommented: (told) => log.info(fieldsOf(told), 'progress comment posted'),
    onMuted: ({ cluster, label }) => log.info({ cluster, label: short(label) }, 'cluster muted after the merge'),
    onSkipped: ({ cluster, label, reason, why }) => {
      // Repeated skips are logged at the debug level.
      const isNew = skipped.get(cluster) !== reason;
      skips.set(cluster, reason);
      log[isNew ? 'info' : 'debug']({ cluster, label: short(label), reason, why: oneLine(why) }, 'cluster skipped');
    },
    onTrouble: ({ cluster, message }) => log.warn({ cluster, reason: oneLine(message) }, 'problem with issue clusters'),
    onRunEnd: (end) => {
      skipped = end.outcome === 'done' ? skips : skipped;
      skips = new Map();
      if (end.outcome === 'unsupported') {
        const reason = end.error?.message ?? 'this platform has no issue clusters';
        log[isSupported ? 'warn' : 'debug']({ reason }, 'issue clusters are not supported; checking again later');
        isSupported = false;
        return;
      }
      isSupported = true;
      const message = end.error === null ? null : end.error.message;
      const isNew = message !== failing;
      if (message !== null) {
        log[isNew ? 'error' : 'debug']({ reason: message }, 'issue cluster run failed');
      } else {
        log[failing !== null || end.opened > 0 || end.source !== source ? 'info' : 'debug'](
          numbersOf(end),
          'issue cluster run completed',
        );
        source = end.source;
      }
      failing = message;
    },
  };
}

function fieldsOf({ cluster, label, request, space, url }: ChangeRequestEvent): object {
  return { cluster, label: short(label), changeRequest: request, space, url };
}

function numbersOf(end: RunEnd): object {
  const { source, read, passing, opened, superseded, commented, skipped, open, requests, dryRun } = end;
  return { source, read, passing, opened, superseded, commented, skipped, open, requests, dryRun };
}

const LONGEST = 120;

/** One line of at most `LONGEST` characters. */
function short(text: string): string {
  const line = oneLine(text);
  return line.length > LONGEST ? `${[...line].slice(0, LONGEST - 1).join('')}…` : line;
}

/** Converts a text to one line: without control characters, line breaks and changes of the reading direction. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]+/gu, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
}
