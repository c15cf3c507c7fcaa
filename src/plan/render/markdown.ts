import type { Plan } from '../../core/change.ts';
import { largest } from '../../core/lists.ts';
import { fitPlanText, planTitleParts, renderPlanText, summaryLine } from './text.ts';
import { type Approval, PLAIN } from './text-layout.ts';

/** Characters in a line of the plan inside a comment. */
const COLUMNS = 110;
/** Number of changes from which a plan is folded. */
const FOLDED = 25;
/** Longest name in a heading, in characters. */
const MAX_NAME_LENGTH = 120;

/** Parts of a plan in Markdown, so that a comment with a length limit can omit some. */
export interface PlanMarkdown {
  /** Heading, and summary with the verdict; escaped so that forges execute nothing in it. */
  readonly head: string;
  /** Plan as shown in the terminal, to be fenced. */
  readonly text: string;
  /** Returns the plan shortened to a length in characters. */
  readonly shorten: (longest: number) => string;
  /** True if the text is long enough to be collapsed at first. */
  readonly isLong: boolean;
}

/** Builds the parts of a plan in Markdown. */
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
 * Renders the plan for a comment: summary first, then the text as in the terminal, inside a fence that the text cannot
 * close, so that titles and keys stay text.
 */
export function renderPlanMarkdown(plan: Plan, approval?: Approval): string {
  const { head, text, isLong } = planMarkdown(plan, approval);
  const block = fenced(text);
  return `${head}\n\n${isLong ? `<details><summary>The plan</summary>\n\n${block}\n\n</details>` : block}\n`;
}

/** Returns a fenced block whose fence is longer than any run of backticks in it. */
export function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}text\n${text}\n${fence}`;
}

/**
 * Formats one line of printable text as code. Escapes are not enough: forges search the rendered Markdown for mentions,
 * references and addresses, and skip only code.
 */
export function codeSpan(text: string): string {
  const characters = [...text.replaceAll(/\s+/g, ' ').trim()];
  const short =
    characters.length > MAX_NAME_LENGTH ? `${characters.slice(0, MAX_NAME_LENGTH - 1).join('')}…` : characters.join('');
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
