import type { Plan } from '../../core/change.ts';
import { largest } from '../../core/lists.ts';
import { fitPlanText, planTitleParts, renderPlanText, summaryLine } from './text.ts';
import { type Approval, PLAIN } from './text-layout.ts';

/** Characters in a line of the plan inside a comment. */
const COLUMNS = 110;
/** Changes from which on the plan is folded. */
const FOLDED = 25;
/** Longest name in a heading, in characters. */
const LONGEST_NAME = 120;

/** A plan for Markdown: its parts, so that a comment with a limit can leave some of it out. */
export interface PlanMarkdown {
  /** The heading, and the summary with its verdict. Nothing in it is obeyed. */
  readonly head: string;
  /** The plan as the terminal shows it, to be fenced. */
  readonly text: string;
  /** The same, shortened to a length in characters. */
  readonly shorten: (longest: number) => string;
  /** True if the text is long enough to be collapsed at first. */
  readonly isLong: boolean;
}

/** The parts of a plan for Markdown. */
export function planMarkdown(plan: Plan, approval?: Approval): PlanMarkdown {
  const options = { columns: COLUMNS, paint: PLAIN, ...(approval === undefined ? {} : { approval }) };
  const text = renderPlanText(plan, options).trimEnd();
  const shorten = (longest: number) => fitPlanText(plan, options, longest).trimEnd();
  const state = { ready: '', held: ' · **held**', refused: ' · **refused**' }[plan.verdict.state];
  const { who, when } = planTitleParts(plan);
  const head = `### Plan for ${codeSpan(who)}${when}\n\n**${summaryLine(plan)}**${state}`;
  return { head, text, shorten, isLong: plan.changes.length > FOLDED };
}

/**
 * The plan for a comment: summary first, then the same words as in the terminal, inside a fence that nothing in them
 * can close, so that titles and keys stay text.
 */
export function renderPlanMarkdown(plan: Plan, approval?: Approval): string {
  const { head, text, isLong } = planMarkdown(plan, approval);
  const block = fenced(text);
  return `${head}\n\n${isLong ? `<details><summary>The plan</summary>\n\n${block}\n\n</details>` : block}\n`;
}

/** A fenced block whose fence is longer than any run of backticks in it. */
export function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}text\n${text}\n${fence}`;
}

/**
 * One line of printable text as code. Escapes would not do: forges look for mentions, references and addresses in what
 * has been made of the Markdown, and leave out only what is code.
 */
export function codeSpan(text: string): string {
  const characters = [...text.replaceAll(/\s+/g, ' ').trim()];
  const short =
    characters.length > LONGEST_NAME ? `${characters.slice(0, LONGEST_NAME - 1).join('')}…` : characters.join('');
  const mark = '`'.repeat(longestRun(short) + 1);
  const room = short === '' || /^`|`$/.test(short) ? ' ' : '';
  return `${mark}${room}${short}${room}${mark}`;
}

function longestRun(text: string): number {
  return largest(
    [...text.matchAll(/`+/g)].map(([run]) => run.length),
    0,
  );
}
