import { createHash } from 'node:crypto';
import type { ClustersConfig } from '../../config/clusters.ts';
import { canonicalJson } from '../../core/json.ts';
import { compilePattern, type Pattern } from '../../core/text/pattern.ts';
import type { IssueCluster } from '../model/cluster.ts';

/** Reason why a cluster is not selected. */
export interface SelectionReason {
  readonly what: 'muted' | 'impact' | 'issues' | 'conversations' | 'age' | 'rising' | 'sources' | 'include' | 'exclude';
  /** Text such as "2 issues, at least 3 required". */
  readonly words: string;
  /**
   * Time from which this may no longer hold without an update of the cluster, in milliseconds since the epoch; 0: any
   * time; null: never.
   */
  readonly until: number | null;
}

/** Result of the selection rule, with every reason against a cluster. */
export type SelectionVerdict =
  | { readonly passes: true }
  | { readonly passes: false; readonly reasons: readonly [SelectionReason, ...SelectionReason[]] };

/** Compiled selection settings. */
export interface SelectionRule {
  readonly settings: ClustersConfig['select'];
  readonly include: readonly Pattern[];
  readonly exclude: readonly Pattern[];
  /** Hash of the rule; results under another hash are evaluated again. */
  readonly hash: string;
}

/**
 * Compiles the settings. The hash includes `reopenGrowth`, which decides whether a merged cluster is selected again.
 */
export function createSelectionRule({
  select,
  afterMerge,
}: Pick<ClustersConfig, 'select' | 'afterMerge'>): SelectionRule {
  const text = canonicalJson({ select, reopenGrowth: afterMerge.reopenGrowth });
  return {
    settings: select,
    include: select.include.map((pattern) => compilePattern(pattern, 'i')),
    exclude: select.exclude.map((pattern) => compilePattern(pattern, 'i')),
    hash: createHash('sha256').update(text).digest('hex').slice(0, 16),
  };
}

/** Evaluates the selection rule for a cluster at this time. */
export function evaluateCluster(cluster: IssueCluster, rule: SelectionRule, now: number): SelectionVerdict {
  const [first, ...rest] = CHECKS.flatMap((check) => check(cluster, rule, now) ?? []);
  return first === undefined ? { passes: true } : { passes: false, reasons: [first, ...rest] };
}

type Check = (cluster: IssueCluster, rule: SelectionRule, now: number) => SelectionReason | null;

const CHECKS: readonly Check[] = [
  muted,
  impact,
  enoughIssues,
  enoughConversations,
  age,
  rising,
  sources,
  include,
  exclude,
];

/** Returns a reason if a cluster is muted. Muting may not change the cluster's timestamp: that is not documented. */
function muted(cluster: IssueCluster): SelectionReason | null {
  return cluster.muted ? { what: 'muted', words: 'muted', until: 0 } : null;
}

function impact(cluster: IssueCluster, { settings }: SelectionRule): SelectionReason | null {
  const asked: readonly string[] = settings.impact;
  if (asked.length === 0 || (cluster.impact !== null && asked.includes(cluster.impact))) {
    return null;
  }
  const is = cluster.impact === null ? 'impact unknown' : `impact ${cluster.impact}`;
  return { what: 'impact', words: `${is}; ${anyOf(asked)} required`, until: null };
}

function enoughIssues({ issues }: IssueCluster, { settings }: SelectionRule): SelectionReason | null {
  return tooFew('issues', issues, settings.minIssues);
}

function enoughConversations({ conversations }: IssueCluster, { settings }: SelectionRule): SelectionReason | null {
  return tooFew('conversations', conversations, settings.minConversations);
}

function tooFew(what: 'issues' | 'conversations', count: number, asked: number): SelectionReason | null {
  const words = `${count} ${count === 1 ? what.slice(0, -1) : what}, at least ${asked} required`;
  return count >= asked ? null : { what, words, until: null };
}

function age({ createdAt }: IssueCluster, { settings }: SelectionRule, now: number): SelectionReason | null {
  if (settings.minAge === 0) {
    return null;
  }
  if (createdAt === null) {
    return { what: 'age', words: `age unknown, at least ${spanOf(settings.minAge)} required`, until: null };
  }
  const is = now - createdAt;
  return is >= settings.minAge
    ? null
    : {
        what: 'age',
        words: `${spanOf(is)} old, at least ${spanOf(settings.minAge)} required`,
        until: createdAt + settings.minAge,
      };
}

/**
 * Returns a reason unless the issues increase by week. The pulse shifts every week, so that older issues can become an
 * increase without a new issue. That is impossible if there are no issues in these weeks.
 */
function rising(
  { weeklyPulse }: IssueCluster,
  { settings: { risingWeeks: weeks } }: SelectionRule,
): SelectionReason | null {
  const last = sum(weeklyPulse.slice(-weeks));
  const before = sum(weeklyPulse.slice(-2 * weeks, -weeks));
  if (weeks === 0 || last > before) {
    return null;
  }
  const span = weeks === 1 ? 'week' : `${weeks} weeks`;
  const words = `${last} issues in the last ${span}, ${before} in the ${span} before; an increase is required`;
  return { what: 'rising', words, until: last === 0 ? null : 0 };
}

function sources(cluster: IssueCluster, { settings }: SelectionRule): SelectionReason | null {
  const asked = settings.sources;
  return asked.length === 0 || asked.some((name) => (cluster.sources[name] ?? 0) > 0)
    ? null
    : { what: 'sources', words: `no issue from ${anyOf(asked)}`, until: null };
}

function include({ label }: IssueCluster, rule: SelectionRule): SelectionReason | null {
  return rule.include.length === 0 || rule.include.some((pattern) => pattern.test(label))
    ? null
    : { what: 'include', words: 'the label matches no pattern of include', until: null };
}

function exclude({ label }: IssueCluster, rule: SelectionRule): SelectionReason | null {
  const index = rule.exclude.findIndex((pattern) => pattern.test(label));
  return index < 0
    ? null
    : { what: 'exclude', words: `the label matches the exclude pattern ${rule.settings.exclude[index]}`, until: null };
}

function anyOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const SPANS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];

/** Formats a duration as "3d" or "5h", rounded down to the largest unit that fits. */
function spanOf(milliseconds: number): string {
  const [unit, name] = SPANS.find(([unit]) => milliseconds >= unit) ?? [1_000, 's'];
  return `${Math.max(0, Math.floor(milliseconds / unit))}${name}`;
}
