import type { Plan } from '../core/change.ts';
import { ROOT_SCOPE, scopeSuffix } from '../core/scope.ts';
import { codeSpan, fenced, planMarkdown } from '../plan/render/markdown.ts';
import { summaryLine } from '../plan/render/text.ts';
import { type Approval, takeLines } from '../plan/render/text-layout.ts';
import { waitingDeletions } from '../plan/render/waiting.ts';
import { printable, printableLines } from '../plan/render/words.ts';
import { type Marker, writeMarker } from './marker.ts';
import type { CommitStatus } from './statuses/commit-statuses.ts';

/** Maximum length of a comment, and the job that shows the whole plan. */
export interface CommentLimits {
  /** Characters. */
  readonly maxLength: number;
  /** Page of the job; null if it has none. */
  readonly runUrl: string | null;
}

/** Maximum length of a commit status, in characters, at the forge with the lowest limit. */
const MAX_DESCRIPTION_LENGTH = 140;

/**
 * Builds the comment that shows a plan: a hidden marker, the summary, and the folded plan. If the plan is longer than a
 * comment may be, the riskiest changes are kept, the others are counted, and a link leads to the whole plan.
 */
export function planComment(plan: Plan, marker: Marker, room: CommentLimits, approval?: Approval): string {
  const { head, text, shorten, isLong } = planMarkdown(plan, approval, room.maxLength);
  const isOpen = !isLong && plan.changes.length > 0;
  return foldedComment({ marker, head, title: 'The plan', text, shorten, isOpen }, room);
}

/** Builds the comment for a commit without a plan. It lists the problems and replaces an earlier, outdated plan. */
export function failureComment(message: string, commit: string, marker: Marker, room: CommentLimits): string {
  const scope = marker.scope === ROOT_SCOPE ? '' : `, scope ${marker.scope}`;
  const head = `### No plan for ${codeSpan(printable(`${marker.organization}${scope}`))}: commit ${commit.slice(0, 7)}\n\n**Planning failed**`;
  // Quoted text never starts a line, because forges execute some lines as commands.
  const text = printableLines(message)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
  const shorten = (longest: number) => takeLines(text.split('\n'), longest).join('\n');
  return foldedComment({ marker, head, title: 'Problems', text, shorten, isOpen: true }, room);
}

/**
 * Builds the commit status of a plan. A held plan is a success, because it waits only when it is applied; the status says
 * first what is deleted then.
 */
export function planStatus(plan: Plan): CommitStatus {
  const { state } = plan.verdict;
  const deletions = waitingDeletions(plan);
  const waits = plan.summary.held > 0 || state === 'held' ? 'waits for approval: ' : '';
  const verdict = state === 'refused' ? 'refused: ' : `${waits}${deletions === null ? '' : `${deletions}; `}`;
  return {
    state: state === 'refused' ? 'failure' : 'success',
    context: statusContext(plan),
    description: [...`${verdict}${summaryLine(plan)}`].slice(0, MAX_DESCRIPTION_LENGTH).join(''),
  };
}

/** Builds the commit status for a plan that failed. */
export function failureStatus(of: Pick<Plan, 'organization' | 'scope'>): CommitStatus {
  return { state: 'error', context: statusContext(of), description: 'planning failed' };
}

function statusContext({ organization, scope }: Pick<Plan, 'organization' | 'scope'>): string {
  return `octavo/plan/${organization}${scopeSuffix(scope)}`;
}

interface Folded {
  readonly marker: Marker;
  readonly head: string;
  readonly title: string;
  readonly text: string;
  /** The text shortened to a length in characters. */
  readonly shorten: (longest: number) => string;
  readonly isOpen: boolean;
}

function foldedComment(
  { marker, head, title, text, shorten, isOpen }: Folded,
  { maxLength, runUrl }: CommentLimits,
): string {
  const around = (block: string, note: string) =>
    `${writeMarker(marker)}\n${head}\n\n<details${isOpen ? ' open' : ''}><summary>${title}</summary>\n\n${block}\n\n</details>\n${note}`;
  const whole = around(fenced(text), '');
  if (whole.length <= maxLength) {
    return whole;
  }
  const where =
    runUrl === null ? 'the output of the job contains the whole text' : `[the job](${runUrl}) contains the whole text`;
  const note = `\nShortened to the maximum length of a comment; ${where}.\n`;
  // The fence may be longer than the remaining text needs, never shorter.
  const budget =
    maxLength -
    around(
      fenced(text).replace(text, () => ''),
      note,
    ).length;
  return around(fenced(shorten(budget)), note);
}
