import { toMarkdown } from '../../platform/rich-text/document.ts';
import { plainText } from '../../platform/rich-text/leaves.ts';
import type { IssueCluster } from '../model/cluster.ts';
import { oneLine } from '../model/text-sanitizing.ts';

const DAY = 86_400_000;

/** Numbers that a change request last reported, in its description or in a comment. */
export interface ReportedNumbers {
  readonly at: number;
  readonly issues: number;
  readonly conversations: number;
  readonly impact: string | null;
}

/** Numbers of a cluster that a progress comment can report. */
export type ClusterNumbers = Pick<IssueCluster, 'issues' | 'conversations' | 'impact'>;

/** Converts numbers to the form in which reported ones are stored. */
export function toReportedNumbers({ issues, conversations, impact }: ClusterNumbers, now: number): ReportedNumbers {
  return { at: now, issues, conversations, impact };
}

/**
 * Builds a comment with the changes since the last report, as Markdown; null if none is due. There is at most one
 * comment a day, and none without an increase or a new impact. A decrease, for example after conversations are deleted,
 * is not reported.
 */
export function buildProgressComment(cluster: ClusterNumbers, last: ReportedNumbers, now: number): string | null {
  const issues = cluster.issues - last.issues;
  const conversations = cluster.conversations - last.conversations;
  const isOther = cluster.impact !== null && cluster.impact !== last.impact;
  if (now - last.at < DAY || (issues <= 0 && conversations <= 0 && !isOther)) {
    return null;
  }
  const day = new Date(last.at).toISOString().slice(0, 10);
  const words = [
    ...(issues > 0 ? [`${more(issues, 'issue')} (${cluster.issues} now)`] : []),
    ...(conversations > 0 ? [`${more(conversations, 'conversation')} (${cluster.conversations} now)`] : []),
    ...(isOther ? [`the impact is now ${oneLine(cluster.impact ?? '')}`] : []),
  ];
  const paragraph = { object: 'block', type: 'paragraph', nodes: [plainText(`Since ${day}: ${words.join(', ')}.`)] };
  return toMarkdown({ nodes: [paragraph] }).trim();
}

function more(count: number, noun: string): string {
  return `${count} more ${noun}${count === 1 ? '' : 's'}`;
}
