import type { Plan } from '../core/change.ts';
import { ROOT_SCOPE, scopeSuffix } from '../core/scope.ts';
import { codeSpan, fenced, planMarkdown } from '../plan/render/markdown.ts';
import { summaryLine } from '../plan/render/text.ts';
import { type Approval, takeLines } from '../plan/render/text-layout.ts';
import { printable, printableLines } from '../plan/render/words.ts';
import type { CommitStatus } from './forge.ts';
import { type Marker, writeMarker } from './marker.ts';

/** Maximum length of a comment, and the job that shows the whole plan. */
export interface Room {
  /** Characters. */
  readonly longest: number;
  /** Page of the job; null if it has none. */
  readonly runUrl: string | null;
}

/** Characters of a commit status at the forge that has room for the fewest. */
const LONGEST_DESCRIPTION = 140;

/**
 * The comment that shows a plan: a hidden marker, the summary, and the plan folded. Of a plan that is longer than a
 * comment may be, the dangerous part is kept, the rest is counted, and a link leads to all of it.
 */
export function planComment(plan: Plan, marker: Marker, room: Room, approval?: Approval): string {
  const { head, text, shorten, isLong } = planMarkdown(plan, approval);
  const isOpen = !isLong && plan.changes.length > 0;
  return foldedComment({ marker, head, title: 'The plan', text, shorten, isOpen }, room);
}

/** The comment that takes a plan's place where there is none: what is wrong, instead of a plan that no longer holds. */
export function failureComment(message: string, commit: string, marker: Marker, room: Room): string {
  const scope = marker.scope === ROOT_SCOPE ? '' : `, scope ${marker.scope}`;
  const head = `### No plan for ${codeSpan(printable(`${marker.organization}${scope}`))}: commit ${commit.slice(0, 7)}\n\n**It could not be planned**`;
  // No line begins with what was quoted: forges obey some lines that do.
  const text = printableLines(message)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
  const shorten = (longest: number) => takeLines(text.split('\n'), longest).join('\n');
  return foldedComment({ marker, head, title: 'What is wrong', text, shorten, isOpen: true }, room);
}

/** Builds the commit status of a plan. A held plan is a success: it waits only when it is applied. */
export function planStatus(plan: Plan): CommitStatus {
  const { state } = plan.verdict;
  const verdict = { ready: '', held: 'held: ', refused: 'refused: ' }[state];
  return {
    state: state === 'refused' ? 'failure' : 'success',
    context: statusContext(plan),
    description: [...`${verdict}${summaryLine(plan)}`].slice(0, LONGEST_DESCRIPTION).join(''),
  };
}

/** Builds the commit status for a plan that failed. */
export function failureStatus(of: Pick<Plan, 'organization' | 'scope'>): CommitStatus {
  return { state: 'error', context: statusContext(of), description: 'it could not be planned' };
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

function foldedComment({ marker, head, title, text, shorten, isOpen }: Folded, { longest, runUrl }: Room): string {
  const around = (block: string, note: string) =>
    `${writeMarker(marker)}\n${head}\n\n<details${isOpen ? ' open' : ''}><summary>${title}</summary>\n\n${block}\n\n</details>\n${note}`;
  const whole = around(fenced(text), '');
  if (whole.length <= longest) {
    return whole;
  }
  const where = runUrl === null ? 'the output of the job has all of it' : `[the job](${runUrl}) has all of it`;
  const note = `\nThis is not all: it is longer than a comment may be, and ${where}.\n`;
  // The fence may be longer than what is kept needs it to be, never shorter.
  const budget =
    longest -
    around(
      fenced(text).replace(text, () => ''),
      note,
    ).length;
  return around(fenced(shorten(budget)), note);
}
