import type { Plan } from '../core/change.ts';
import { PLAIN, planTitle, renderPlanText, summaryLine } from './render-text.ts';

/** Characters in a line of the plan inside a comment. */
const COLUMNS = 110;
/** Changes from which on the plan is folded. */
const FOLDED = 25;

/**
 * The plan for a comment: summary first, then the same words as in the terminal, inside a fence that nothing in them
 * can close, so that titles and keys stay text.
 */
export function renderPlanMarkdown(plan: Plan): string {
  const text = renderPlanText(plan, { columns: COLUMNS, paint: PLAIN });
  const block = fenced(text.trimEnd());
  const state = { ready: '', held: ' · **held**', refused: ' · **refused**' }[plan.verdict.state];
  const summary = `**${summaryLine(plan)}**${state}`;
  const body = plan.changes.length > FOLDED ? `<details><summary>The plan</summary>\n\n${block}\n\n</details>` : block;
  return `### ${escapeMarkdown(planTitle(plan))}\n\n${summary}\n\n${body}\n`;
}

/** A fenced block whose fence is longer than any run of backticks in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+!|<>~@&]/g, (character) => `&#${character.codePointAt(0)};`);
}
