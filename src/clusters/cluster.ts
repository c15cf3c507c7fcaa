/** Clusters of similar issues, in one form for every version of the platform, and functions for their text. */

import { compareText, largest } from '../core/lists.ts';

/** Cluster of similar issues. Times are in milliseconds since the epoch, null if the platform does not return them. */
export interface IssueCluster {
  readonly id: string;
  readonly label: string;
  /** `low`, `medium`, `high`, or an unknown value; null if the platform returns none. */
  readonly impact: string | null;
  /** True if it is muted for change requests on the platform. */
  readonly muted: boolean;
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  /** Issues by week over the past three months, the oldest week first. */
  readonly weeklyPulse: readonly number[];
  /** Number of issues by source. */
  readonly sources: Readonly<Record<string, number>>;
  readonly issues: number;
  readonly conversations: number;
  /** A rich document or a text. */
  readonly summary: unknown;
  /** Address of its page. */
  readonly url: string | null;
  readonly icon: string | null;
}

/** Issue of a cluster, with its conversation. */
export interface ClusterIssue {
  readonly id: string;
  readonly title: string;
  readonly impact: string | null;
  readonly createdAt: number | null;
  /** A rich document or a text. */
  readonly details: unknown;
  readonly conversation: {
    readonly id: string;
    readonly subject: string;
    readonly url: string | null;
    readonly source: string | null;
  } | null;
}

/** Returns the members of a cluster that documents show in this order. */
export function clusterFacts({ id, label, impact, muted, issues, conversations, url }: ClusterFacts): ClusterFacts {
  return { id, label, impact, muted, issues, conversations, url };
}

type ClusterFacts = Pick<IssueCluster, 'id' | 'label' | 'impact' | 'muted' | 'issues' | 'conversations' | 'url'>;

/** Returns the numbers of a cluster that change requests report. */
export function clusterNumbers({ issues, conversations, impact }: ClusterNumbers): ClusterNumbers {
  return { issues, conversations, impact };
}

type ClusterNumbers = Pick<IssueCluster, 'issues' | 'conversations' | 'impact'>;

const IMPACTS: readonly (string | null)[] = ['low', 'medium', 'high'];

/** Weight of an impact for sorting; 0 for an unknown one. */
export function impactWeight(impact: string | null): number {
  return IMPACTS.indexOf(impact) + 1;
}

/** Returns the issues of the last weeks, and of as many weeks before. */
export function comparePulse(pulse: IssueCluster['weeklyPulse'], weeks: number) {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  return { now: sum(pulse.slice(-weeks)), before: sum(pulse.slice(-2 * weeks, -weeks)) };
}

type Severity = Pick<IssueCluster, 'id' | 'impact' | 'issues' | 'createdAt'>;

/** Compares clusters by severity: impact, then number of issues, then age. */
export function compareSeverity(a: Severity, b: Severity): number {
  return (
    impactWeight(b.impact) - impactWeight(a.impact) ||
    b.issues - a.issues ||
    (a.createdAt ?? 0) - (b.createdAt ?? 0) ||
    compareText(a.id, b.id)
  );
}

/** Parses a date-time to milliseconds since the epoch; null if there is none. */
export function parseTime(text: string | null | undefined): number | null {
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/**
 * Picks up to `most` issues that represent a cluster: those of the highest impact first, then one per conversation
 * before a second one of any, then the newest. The order of the input does not matter.
 */
export function pickRepresentatives(issues: readonly ClusterIssue[], most: number): readonly ClusterIssue[] {
  const sorted = [...issues].sort(
    (a, b) =>
      impactWeight(b.impact) - impactWeight(a.impact) ||
      (b.createdAt ?? 0) - (a.createdAt ?? 0) ||
      (a.id < b.id ? -1 : 1),
  );
  const heard = new Set<string>();
  const ranked = [...Map.groupBy(sorted, ({ impact }) => impactWeight(impact)).values()].flatMap((group) => {
    const first = group.filter(({ conversation }) => {
      const isNew = conversation === null || !heard.has(conversation.id);
      heard.add(conversation?.id ?? '');
      return isNew;
    });
    return [...first, ...group.filter((issue) => !first.includes(issue))];
  });
  return ranked.slice(0, most);
}

/** Number and length of the texts that stand for a cluster. */
const EXAMPLES = 2;
const EXAMPLE_LENGTH = 120;

/** Picks titles of issues that say more than the label of their cluster. */
export function pickExamples({ label }: Pick<IssueCluster, 'label'>, issues: readonly ClusterIssue[]): string[] {
  const known = new Set([oneLine(label).toLowerCase()]);
  const others = pickRepresentatives(issues, issues.length).filter(({ id, title }) => {
    const text = oneLine(title).toLowerCase();
    const isNew = text !== '' && title !== id && !known.has(text);
    known.add(text);
    return isNew;
  });
  return others.slice(0, EXAMPLES).map(({ title }) => cut(oneLine(title), EXAMPLE_LENGTH, true));
}

/** Maximum length that is processed, in UTF-16 code units: longer than any valid text. */
const ENOUGH = 2_000;

/**
 * Converts text of the platform to one line. Line breaks, control characters, text-direction characters and runs of
 * white space become one space each; halves of surrogate pairs are replaced.
 */
export function oneLine(text: string): string {
  return text
    .slice(0, 10 * ENOUGH)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
}

/** Removes control and text-direction characters from text of the platform; its lines stay. */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ');
}

/**
 * Truncates a text to `most` UTF-16 code units, between characters as a reader sees them. A truncated text ends with
 * "…", which counts too. Where `words` is set, it is cut between words if one ends in the last third.
 */
export function cut(text: string, most: number, words = false): string {
  if (text.length <= most) {
    return text;
  }
  let kept = 0;
  let word = 0;
  // The slice may end inside a character, so it is longer than needed.
  for (const { segment, index } of new Intl.Segmenter().segment(text.slice(0, most + ENOUGH))) {
    if (index + segment.length > most - 1) {
      break;
    }
    kept = index + segment.length;
    word = /\s/u.test(segment) ? index : word;
  }
  const end = words && word > (most * 2) / 3 ? word : kept;
  return `${text.slice(0, end).trimEnd()}…`;
}

/**
 * Returns an address that a person can open; null for other schemes, and for addresses longer than the platform
 * accepts.
 */
export function webUrl(url: unknown): string | null {
  const isWeb = typeof url === 'string' && url.length <= 2_048 && /^https?:\/\//i.test(url) && URL.canParse(url);
  return isWeb ? url : null;
}

/** `unclear`: there is too little to compare, or the newest week may only have begun. */
interface Trend {
  readonly direction: 'rising' | 'falling' | 'steady' | 'quiet' | 'unclear';
  /** Text such as "rising: 12 this week, 4 last week". */
  readonly words: string;
}

/** Weeks that the newest one is compared with. */
const WINDOW = 3;

/**
 * Describes numbers by week, newest last. The newest week may only have begun, so that few issues in it mean nothing: it
 * makes a rise, but a fall only if the week before it fell too.
 */
export function trendOf(pulse: readonly number[]): Trend {
  const weeks = pulse.map((count) => (Number.isFinite(count) ? Math.max(0, count) : 0));
  const [last, before, earlier] = weeks.toReversed();
  if (last === undefined || before === undefined) {
    return { direction: 'unclear', words: last === undefined ? 'no numbers by week' : `${number(last)} this week` };
  }
  const quiet = weeks.length - 1 - weeks.findLastIndex((count) => count > 0);
  if (quiet > 1) {
    return { direction: 'quiet', words: `quiet for ${quiet} weeks` };
  }
  const words = `${number(last)} this week, ${number(before)} last week`;
  const recent = weeks.slice(-1 - WINDOW, -1);
  const usual = recent.reduce((sum, count) => sum + count, 0) / recent.length;
  if (last > before && last > usual) {
    const isFirst = weeks.length > 2 && weeks.slice(0, -1).every((count) => count === 0);
    const first = `${number(last)} this week, none in the ${weeks.length - 1} weeks before`;
    return { direction: 'rising', words: `rising: ${isFirst ? first : words}` };
  }
  if (earlier !== undefined && last < before && before < earlier) {
    return { direction: 'falling', words: `falling: ${words}, ${number(earlier)} the week before` };
  }
  return last === before ? { direction: 'steady', words: `steady: ${words}` } : { direction: 'unclear', words };
}

/** Describes numbers by week with a bar for each: "rising: 9 this week, 5 last week, ▁▂▄█". */
export function describeTrend(pulse: readonly number[]): string {
  return pulse.length === 0 ? 'unknown' : `${trendOf(pulse).words}, ${sparkline(pulse)}`;
}

function number(count: number): string {
  return count === 0 ? 'none' : count.toLocaleString('en');
}

const BARS = '▁▂▃▄▅▆▇█';

/** One bar for each week, the highest for the most issues. */
function sparkline(pulse: readonly number[]): string {
  const most = largest(pulse, 1);
  return pulse.map((count) => BARS[Math.round((Math.max(0, count) / most) * (BARS.length - 1))]).join('');
}
