/** Plan in Markdown, for comments of forges. */
import { type AccessChange, EVERYONE } from '../../core/change.ts';
import { largest } from '../../core/lists.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import type { PlanDocument } from './document.ts';
import { accessWords, fitPlanText, planTitleParts, rankChanges, renderPlanText, summaryLine } from './text.ts';
import { type Approval, PLAIN, takeLines } from './text-layout.ts';
import { counted, isDeletion, noCommand, printable, shortened } from './words.ts';

/** Characters in a line of the plan inside a comment. */
const COLUMNS = 110;
/** Number of changes from which a plan is folded. */
const FOLDED = 25;
/** Longest name in a heading, in characters. */
const MAX_NAME_LENGTH = 120;
/** Deletions, and access changes, that are named above a folded plan. */
const MAX_RISKS = 20;
/** Longest line above a folded plan, in characters. */
const MAX_RISK_LENGTH = 200;
/** Characters of a comment that the lines above the folded plan leave free, and their share of the others. */
const MIN_REST_LENGTH = 1600;
const RISK_SHARE = 8;

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

/** Builds the parts of a plan in Markdown, for a text of at most `longest` characters. */
export function planMarkdown(
  plan: PlanDocument,
  approval?: Approval,
  longest = Number.POSITIVE_INFINITY,
): PlanMarkdown {
  const options = { columns: COLUMNS, paint: PLAIN, approval };
  const text = renderPlanText(plan, options).trimEnd();
  const shorten = (longest: number) => fitPlanText(plan, options, longest).trimEnd();
  const state = { ready: '', held: ' · **held**', refused: ' · **refused**' }[plan.verdict.state];
  const { who, when } = planTitleParts(plan);
  const isLong = plan.changes.length > FOLDED;
  const room = (longest - MIN_REST_LENGTH) / RISK_SHARE;
  const risks = isLong && room >= MAX_RISK_LENGTH ? takeLines(riskLines(plan), room) : [];
  const above = risks.length === 0 ? '' : `\n\n${fenced(risks.join('\n'))}`;
  const head = `### Plan for ${codeSpan(who)}${when}\n\n**${summaryLine(plan)}**${state}${above}`;
  return { head, text, shorten, isLong };
}

/** Returns the deletions and the access changes of a plan, for the text above a folded plan. */
function riskLines(plan: PlanDocument): readonly string[] {
  const deletions = rankChanges(plan).filter(({ change }) => isDeletion(change));
  const isPublic = ({ person, to }: AccessChange) => to !== null && person.startsWith(EVERYONE);
  // What becomes public comes first.
  const access = plan.access.toSorted((a, b) => Number(isPublic(b)) - Number(isPublic(a)));
  return [
    ...listed(
      deletions.map(({ change: { held, impact, address } }) => {
        const what = impact === '' ? address : `${address}: ${impact}`;
        return `Deletes${held === null ? '' : ' (held)'}  ${what}`;
      }),
      'deletion',
    ),
    ...listed(
      access.map((change) => `${isPublic(change) ? 'Public' : 'Access'}  ${accessWords(change)}`),
      'access change',
    ),
  ];
}

function listed(lines: readonly string[], noun: string): readonly string[] {
  const more = lines.length - MAX_RISKS;
  return [
    ...lines.slice(0, MAX_RISKS).map((line) => noCommand(shortened(printable(maskUrls(line)), MAX_RISK_LENGTH))),
    ...(more > 0 ? [`and ${counted(more, `more ${noun}`)}`] : []),
  ];
}

/**
 * Renders the plan for a comment: summary first, then the text as in the terminal, inside a fence that the text cannot
 * close, so that titles and keys stay text.
 */
export function renderPlanMarkdown(plan: PlanDocument, approval?: Approval): string {
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
  const short = shortened(text.replaceAll(/\s+/g, ' ').trim(), MAX_NAME_LENGTH);
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
