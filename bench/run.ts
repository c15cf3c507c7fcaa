/**
 * Measures Octavo as it is installed, next to other clients that do the same work: `npm run bench -- --help`. See
 * docs/performance.md.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { acceptResults, type Baseline, isRegression } from './baseline.ts';
import { CASES, chooseCases } from './cases/index.ts';
import { installPackage } from './install.ts';
import { watchMachine } from './machine.ts';
import { type Case, type CaseResult, runCases } from './runner.ts';
import { renderTable, replaceFigures, withGoals } from './table.ts';

const HELP = `npm run bench -- [options] [case...]

A case is named in full or by its first words, such as "create". Without names, all cases run that do not take long.

  --list      List the cases
  --runs <n>  Counted runs of each program; one more precedes them (default: 3)
  --full      Include the cases that take long
  --write     Write the figures that have goals to docs/performance.md
  --accept    Store the figures as the baseline in bench/baseline.json

Exit codes: 0 if all cases were measured; 1 if a case failed or a figure is clearly worse than its baseline; 3 for invalid
options; 130 if interrupted.
`;

const OPTIONS = {
  list: { type: 'boolean', default: false },
  runs: { type: 'string', default: '3' },
  full: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
  accept: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const BASELINE = fileURLToPath(new URL('baseline.json', import.meta.url));
const PAGE = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const RESULTS = fileURLToPath(new URL('results/', import.meta.url));

interface Settings {
  readonly cases: readonly Case[];
  readonly runs: number;
  readonly write: boolean;
  readonly accept: boolean;
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let settings: Settings | string;
  try {
    settings = readSettings(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 3;
  }
  if (typeof settings === 'string') {
    process.stdout.write(settings);
    return 0;
  }
  return measure(settings);
}

/** Returns the settings, or the text to print instead of measuring. */
function readSettings(args: readonly string[]): Settings | string {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  if (values.help) {
    return HELP;
  }
  if (values.list) {
    return CASES.map(({ name, title, long }) => `${name.padEnd(30)}${title}${long === true ? ' (long)' : ''}\n`).join(
      '',
    );
  }
  if (process.platform !== 'linux') {
    throw new Error('the benchmark needs Linux, because it reads /proc');
  }
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) {
    throw new Error(`--runs: ${values.runs} is not a positive integer`);
  }
  if (values.write && positionals.length > 0) {
    throw new Error('--write cannot be combined with names of cases; run all cases');
  }
  const { write, accept } = values;
  return { cases: chooseCases(CASES, positionals, values.full), runs, write, accept };
}

async function measure(settings: Settings): Promise<number> {
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => interrupt.abort());
  }
  const folder = mkdtempSync(join(tmpdir(), 'octavo-bench-'));
  const baseline = existsSync(BASELINE) ? (JSON.parse(readFileSync(BASELINE, 'utf8')) as Baseline) : {};
  try {
    const save = resultsWriter(settings.runs);
    const results = await runCases(settings.cases, {
      installed: await installPackage(folder),
      runs: settings.runs,
      folder,
      interrupt: interrupt.signal,
      watch: watchMachine,
      save,
    });
    publish(results, settings, baseline);
    return exitCodeOf(results, baseline);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns a function that writes the results so far, and shows the newest. */
function resultsWriter(runs: number): (results: readonly CaseResult[]) => void {
  const at = new Date().toISOString();
  const file = join(RESULTS, `${at.replaceAll(/[:.]/g, '-')}.json`);
  mkdirSync(RESULTS, { recursive: true });
  process.stderr.write(`Results: ${file}\n`);
  return (results) => {
    const report = { at, node: process.version, processors: availableParallelism(), runs, cases: results };
    writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
    const newest = results.findLast(({ status }) => status !== 'not run');
    if (newest !== undefined) {
      const reason = newest.error === null ? '' : `: ${newest.error}`;
      process.stderr.write(`${newest.name}: ${newest.status}${reason}\n`);
    }
  };
}

function publish(results: readonly CaseResult[], { write, accept, runs }: Settings, baseline: Baseline): void {
  process.stdout.write(renderTable(results, baseline));
  if (write) {
    const date = new Date().toISOString().slice(0, 10);
    const about = `Measured on ${date} with Node ${process.versions.node} on ${availableParallelism()} cores. Counted runs of each program: ${runs}.`;
    const titles = CASES.map(({ name, title }) => `| \`${name}\` | ${title} |\n`);
    const text = `| case | work |\n|---|---|\n${titles.join('')}\n${about}\n\n${renderTable(withGoals(results), baseline)}`;
    writeFileSync(PAGE, replaceFigures(readFileSync(PAGE, 'utf8'), text));
  }
  if (accept) {
    writeFileSync(BASELINE, `${JSON.stringify(acceptResults(baseline, results), null, 2)}\n`);
  }
}

function exitCodeOf(results: readonly CaseResult[], baseline: Baseline): number {
  if (results.some(({ status }) => status === 'interrupted' || status === 'not run')) {
    return 130;
  }
  const isWorse = ({ name, figures, conditions }: CaseResult) =>
    figures.some((figure) => isRegression(figure, baseline[name]?.[figure.name], conditions));
  return results.some((result) => result.status === 'failed' || isWorse(result)) ? 1 : 0;
}
