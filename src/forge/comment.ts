import type { Plan } from '../core/change.ts';
import { codeSpan, fenced, planMarkdown } from '../plan/render-markdown.ts';
import { summaryLine } from '../plan/render-text.ts';
import { printable, printableLines } from '../plan/words.ts';
import type { CommitStatus } from './forge.ts';
import { type Marker, writeMarker } from './marker.ts';

/** How long a comment may be, and where the whole plan is when that is not enough. */
export interface Room {
  /** Characters. */
  readonly longest: number;
  /** The job, for whoever wants all of it; null where it has no page. */
  readonly runUrl: string | null;
}

/** Of the room for a plan, how much what follows its changes (access, what is held, cost) has at least. */
const TAIL_SHARE = 1 / 3;
/** Characters of a commit status at the forge that has room for the fewest. */
const LONGEST_DESCRIPTION = 140;

/**
 * The comment that shows a plan: a hidden marker, the summary, and the plan folded. What does not fit is left out line by
 * line, from the end of the changes first, and the comment says so and where all of it is.
 */
export function planComment(plan: Plan, marker: Marker, room: Room): string {
  const { head, text, isLong } = planMarkdown(plan);
  const isOpen = !isLong && plan.changes.length > 0;
  return foldedComment({ marker, head, title: 'The plan', text, isOpen }, room);
}

/** The comment that takes a plan's place where there is none: what is wrong, instead of a plan that no longer holds. */
export function failureComment(message: string, commit: string, marker: Marker, room: Room): string {
  const head = `### No plan for ${codeSpan(printable(marker.organization))}: commit ${commit.slice(0, 7)}\n\n**It could not be planned**`;
  // No line begins with what was quoted: forges obey some lines that do.
  const text = printableLines(message)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
  return foldedComment({ marker, head, title: 'What is wrong', text, isOpen: true }, room);
}

/** What the commit status says of a plan. What is held does not fail: it waits when it is applied, not before. */
export function planStatus(plan: Plan): CommitStatus {
  const { state } = plan.verdict;
  const verdict = { ready: '', held: 'held: ', refused: 'refused: ' }[state];
  return {
    state: state === 'refused' ? 'failure' : 'success',
    context: statusContext(plan.organization),
    description: [...`${verdict}${summaryLine(plan)}`].slice(0, LONGEST_DESCRIPTION).join(''),
  };
}

/** What the commit status says where there is no plan. */
export function failureStatus(organization: string): CommitStatus {
  return { state: 'error', context: statusContext(organization), description: 'it could not be planned' };
}

function statusContext(organization: string): string {
  return `octavo/plan/${organization}`;
}

interface Folded {
  readonly marker: Marker;
  readonly head: string;
  readonly title: string;
  readonly text: string;
  readonly isOpen: boolean;
}

function foldedComment({ marker, head, title, text, isOpen }: Folded, { longest, runUrl }: Room): string {
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
  return around(fenced(shorten(text, budget)), note);
}

/** As many whole lines as there is room for: from the start, and of what follows the changes. */
function shorten(text: string, budget: number): string {
  const lines = text.split('\n');
  const first = lines.indexOf('', lines.indexOf('') + 1);
  const changes = first === -1 ? lines : lines.slice(0, first);
  const rest = first === -1 ? [] : lines.slice(first);
  const gap = '  …';
  const tail = rest.length === 0 ? [] : take(rest, Math.floor(budget * TAIL_SHARE), gap);
  const used = tail.reduce((sum, line) => sum + line.length + 1, 0);
  return [...take(changes, budget - used, gap), ...tail].join('\n');
}

/** Lines from the start for as long as they and the mark of a gap fit, each with its line break. */
export function take(lines: readonly string[], budget: number, gap: string): readonly string[] {
  const kept: string[] = [];
  let left = budget - gap.length - 1;
  for (const line of lines) {
    left -= line.length + 1;
    if (left < 0) {
      return [...kept, gap];
    }
    kept.push(line);
  }
  return kept;
}
