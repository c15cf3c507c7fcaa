/** The table of figures, as Markdown that is aligned for a terminal. */
import { type Baseline, isRegression } from './baseline.ts';
import { type Figure, formatValue, judge, median } from './figures.ts';
import type { CaseResult } from './runner.ts';

const HEAD = ['case', 'figure', 'goal', 'measured', 'spread', 'baseline', 'load / others', 'verdict'];

/** Returns one row per figure, and one for each case without a complete result. */
export function renderTable(results: readonly CaseResult[], baseline: Baseline): string {
  const rows = results.flatMap((result) => [
    ...result.figures.map((figure) => rowOf(result, figure, baseline[result.name]?.[figure.name])),
    ...(result.status === 'measured' ? [] : [[result.name, '', '', '', '', '', '', result.status]]),
  ]);
  const widths = HEAD.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  return [line(HEAD), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('');
}

function rowOf(result: CaseResult, figure: Figure, baseline: number | undefined): readonly string[] {
  const { samples, goal } = figure;
  const { load, othersCores } = result.conditions;
  const regressed = isRegression(figure, baseline, result.conditions) ? ['regressed'] : [];
  return [
    result.name,
    figure.name,
    goal === null ? '' : `≤ ${formatValue(figure, goal)}`,
    formatValue(figure, median(samples)),
    samples.length < 2
      ? ''
      : `${formatValue(figure, Math.min(...samples))} – ${formatValue(figure, Math.max(...samples))}`,
    baseline === undefined ? '' : formatValue(figure, baseline),
    `${load.toFixed(1)} / ${othersCores.toFixed(1)}`,
    [judge(figure, result.conditions), ...regressed].filter((word) => word !== '').join(', '),
  ];
}

/** Returns the results with only those figures that have a goal. */
export function withGoals(results: readonly CaseResult[]): readonly CaseResult[] {
  return results.map((result) => ({ ...result, figures: result.figures.filter(({ goal }) => goal !== null) }));
}

/** Returns the page with the text between the comments around its figures replaced. */
export function replaceFigures(page: string, text: string): string {
  const block = /(?<=^<!-- figures: .*-->\n)[\s\S]*(?=^<!-- end of figures -->$)/m;
  if (!block.test(page)) {
    throw new Error('docs/performance.md: the comments around the figures are missing; restore them');
  }
  return page.replace(block, () => `\n${text}\n`);
}
