import type { ClusterEvents, RunEnd, Told } from '../clusters/run/events.ts';
import type { Logger } from '../log.ts';

/** Tells the log what becomes of issue clusters. Labels are other people's words: they stay in one line. */
export function logClusters(log: Logger): ClusterEvents {
  let failing: string | null = null;
  let source: RunEnd['source'] = 'clusters';
  let isSupported = true;
  let skipped = new Map<string, string>();
  let skips = new Map<string, string>();
  const tell = (told: Told, message: string) =>
    log.info(
      { cluster: told.cluster, changeRequest: told.request, space: told.space, url: told.url },
      `${quoted(told.label)}: ${message}`,
    );
  return {
    onOpened: (told) => tell(told, `a change request is open: ${told.why}`),
    onWouldOpen: ({ cluster, label, space, subject, why }) =>
      log.info(
        { cluster, space },
        `${quoted(label)}: would be opened as ${quoted(subject)} (dry run): ${oneLine(why)}`,
      ),
    onMerged: (told) => tell(told, `its change request was merged${told.isEmpty ? EMPTY : ''}`),
    onArchived: (told) => tell(told, 'its change request was archived by hand, and no other is opened'),
    onReopened: (told) => tell(told, 'its change request is open again'),
    onGaveWay: (told) => tell(told, `a draft gave way: ${oneLine(told.why)}`),
    onCommented: (told) => tell(told, 'a comment tells what came since'),
    onMuted: ({ cluster, label }) => log.info({ cluster }, `${quoted(label)}: muted after the merge`),
    onSkipped: ({ cluster, label, reason, why }) => {
      // Every run says it again: once is enough for an operator.
      const isNews = skipped.get(cluster) !== reason;
      skips.set(cluster, reason);
      log[isNews ? 'info' : 'debug']({ cluster, reason }, `${quoted(label)}: skipped: ${oneLine(why)}`);
    },
    onTrouble: ({ cluster, message }) => log.warn({ cluster }, oneLine(message)),
    onRunEnd: (end) => {
      skipped = end.outcome === 'done' ? skips : skipped;
      skips = new Map();
      if (end.outcome === 'unsupported') {
        const why = end.error?.message ?? 'this platform has no issue clusters';
        log[isSupported ? 'warn' : 'debug'](`${why}: none become change requests, and it is asked again now and then`);
        isSupported = false;
        return;
      }
      isSupported = true;
      const message = end.error === null ? null : end.error.message;
      const isNews = message !== failing;
      if (message !== null) {
        log[isNews ? 'error' : 'debug'](`issue clusters cannot be worked on: ${message}`);
      } else {
        log[failing !== null || end.opened > 0 || end.source !== source ? 'info' : 'debug'](
          numbersOf(end),
          wordsOf(end),
        );
        source = end.source;
      }
      failing = message;
    },
  };
}

const EMPTY = ' without any edit; another may be opened';

function numbersOf({ read, passing, opened, gaveWay, commented, skipped, open, requests, dryRun }: RunEnd): object {
  return { read, passing, opened, gaveWay, commented, skipped, open, requests, dryRun };
}

function wordsOf({ source, read, passing, opened, dryRun }: RunEnd): string {
  const what = source === 'topics' ? 'topics of the site' : 'issue clusters';
  return `${read} ${what} read, ${passing} pass, ${opened} ${dryRun ? 'would be opened' : 'opened'}`;
}

/** Tells every listener, in order. */
export function combineClusterEvents(listeners: readonly ClusterEvents[]): ClusterEvents {
  return {
    onOpened: (told) => listeners.forEach((each) => void each.onOpened?.(told)),
    onWouldOpen: (told) => listeners.forEach((each) => void each.onWouldOpen?.(told)),
    onMerged: (told) => listeners.forEach((each) => void each.onMerged?.(told)),
    onArchived: (told) => listeners.forEach((each) => void each.onArchived?.(told)),
    onReopened: (told) => listeners.forEach((each) => void each.onReopened?.(told)),
    onGaveWay: (told) => listeners.forEach((each) => void each.onGaveWay?.(told)),
    onCommented: (told) => listeners.forEach((each) => void each.onCommented?.(told)),
    onMuted: (told) => listeners.forEach((each) => void each.onMuted?.(told)),
    onSkipped: (told) => listeners.forEach((each) => void each.onSkipped?.(told)),
    onTrouble: (told) => listeners.forEach((each) => void each.onTrouble?.(told)),
    onRunEnd: (told) => listeners.forEach((each) => void each.onRunEnd?.(told)),
  };
}

const LONGEST = 120;

function quoted(label: string): string {
  const line = oneLine(label);
  return JSON.stringify(line.length > LONGEST ? `${[...line].slice(0, LONGEST - 1).join('')}…` : line);
}

/** Without control characters and line breaks of any kind, and without what turns the direction of a line around. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]+/gu, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim();
}
