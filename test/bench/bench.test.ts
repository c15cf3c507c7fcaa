/** Checks the benchmark itself: its isolation of cases, its results and its comparison with the baseline. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acceptResults, isRegression } from '../../bench/baseline.ts';
import { CASES, chooseCases } from '../../bench/cases/index.ts';
import { type Conditions, type Figure, judge, type Kind } from '../../bench/figures.ts';
import { type Installed, installPackage } from '../../bench/install.ts';
import { type Run, runOnce, startProcess } from '../../bench/measure.ts';
import { type Case, type CaseResult, type RunOptions, runCases } from '../../bench/runner.ts';
import { renderTable } from '../../bench/table.ts';

const QUIET: Conditions = { load: 1, othersCores: 0 };
const BUSY: Conditions = { load: 9, othersCores: 1.5 };

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-bench-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bench = (name: string, measure: Case['measure']): Case => ({ name, title: name, measure });

/** Runs cases without an installed package; `saved` is what the results file would contain after each case. */
async function run(cases: readonly Case[], options: Partial<RunOptions> = {}) {
  const saved: (readonly CaseResult[])[] = [];
  const installed: Installed = { home: folder, octavo: '', checkout: '', example: '', program: () => '' };
  const save = (results: readonly CaseResult[]) => void saved.push(results);
  const watch = () => () => QUIET;
  const interrupt = new AbortController().signal;
  const results = await runCases(cases, { installed, runs: 3, folder, interrupt, watch, save, ...options });
  return { results, saved };
}

describe('running cases', () => {
  test('a failing case keeps its figures, and the cases after it still run', async () => {
    const { results, saved } = await run([
      bench('fails', async ({ record }) => {
        record('wall', 'seconds', [1, 2, 3]);
        throw new Error('the platform is unreachable');
      }),
      bench('works', async ({ record }) => record('requests', 'count', 5, 5)),
    ]);
    expect(results).toMatchObject([
      { name: 'fails', status: 'failed', error: 'the platform is unreachable', figures: [{ samples: [1, 2, 3] }] },
      { name: 'works', status: 'measured', error: null, figures: [{ samples: [5], goal: 5 }] },
    ]);
    expect(saved.map((each) => each.map(({ status }) => status))).toEqual([
      ['failed', 'not run'],
      ['failed', 'measured'],
    ]);
  });

  test('an interruption ends the running case, keeps what was measured and skips the rest', async () => {
    const interrupt = new AbortController();
    const { results, saved } = await run(
      [
        bench('hangs', async ({ record }) => {
          record('wall', 'seconds', 1);
          setImmediate(() => interrupt.abort());
          await new Promise(() => {});
        }),
        bench('later', async ({ record }) => record('wall', 'seconds', 1)),
      ],
      { interrupt: interrupt.signal },
    );
    expect(results.map(({ status, figures }) => [status, figures.length])).toEqual([
      ['interrupted', 1],
      ['not run', 0],
    ]);
    expect(saved).toEqual([results]);
  });

  test('a case that hangs fails at the time limit, and the cases after it still run', async () => {
    const cases = [bench('hangs', () => new Promise(() => {})), bench('works', async () => {})];
    const { results } = await run(cases, { timeLimit: 1 });
    expect(results).toMatchObject([
      { status: 'failed', error: expect.stringMatching(/^took longer than/) },
      { status: 'measured' },
    ]);
  });

  test('a process that a case leaves running is killed before its folder is removed', async () => {
    const pids: number[] = [];
    await run([
      bench('leaves a process', async (context) => {
        const child = startProcess(context, ['-e', 'setInterval(() => {}, 1000)']);
        pids.push(child.pid ?? 0);
      }),
    ]);
    expect(pids).toHaveLength(1);
    expect(() => process.kill(pids[0] ?? 0, 0)).toThrow('ESRCH');
  });
});

test('the package is built, installed and measured as a process', async () => {
  const installed = await installPackage(folder);
  const runs: Run[] = [];
  const { results } = await run(
    [
      bench('help', async (context) => {
        for (const entry of [installed.octavo, installed.checkout]) {
          runs.push(await runOnce(context, [entry, '--help'], { countModules: true }));
        }
        await runOnce(context, [installed.octavo, 'no-such-command']);
      }),
    ],
    { installed },
  );
  const measured = { wall: expect.any(Number), cpu: expect.any(Number), peak: expect.any(Number) };
  const help = { ...measured, output: expect.stringContaining('Usage: octavo') };
  expect(runs).toEqual([help, help].map((each) => ({ ...each, modules: expect.any(Number) })));
  expect(runs.filter(({ cpu, peak, modules }) => cpu <= 0 || peak <= 20 || modules <= 1)).toEqual([]);
  expect(results).toMatchObject([{ status: 'failed', error: expect.stringContaining('no-such-command') }]);
});

describe('choosing cases', () => {
  const names = (chosen: readonly Case[]) => chosen.map(({ name }) => name);

  test('a first word names a group, and a full name names one case', () => {
    expect(names(chooseCases(CASES, ['daemon'], false))).toEqual(['daemon-start', 'daemon-cycles']);
    expect(names(chooseCases(CASES, ['limit-aligned'], false))).toEqual(['limit-aligned']);
  });

  test('a case that takes long runs only with its full name or --full', () => {
    expect(names(chooseCases(CASES, [], false))).not.toContain('push-2-gb');
    expect(names(chooseCases(CASES, ['push'], false))).not.toContain('push-2-gb');
    expect(names(chooseCases(CASES, ['push-2-gb'], false))).toEqual(['push-2-gb']);
    expect(names(chooseCases(CASES, [], true))).toEqual(names(CASES));
  });
});

const figure = (kind: Kind, samples: readonly number[], goal: number | null = null): Figure => ({
  name: 'figure',
  kind,
  samples,
  goal,
});

describe('verdicts', () => {
  test.each<readonly [string, Figure, Conditions, string]>([
    ['a median within the goal is met', figure('seconds', [0.1, 0.2, 9], 0.2), QUIET, 'met'],
    ['a median above the goal is missed', figure('seconds', [0.1, 0.3, 0.3], 0.2), QUIET, 'missed'],
    ['a time above the goal on a busy machine is noisy', figure('seconds', [0.3], 0.2), BUSY, 'noisy'],
    ['a time within the goal on a busy machine is met', figure('seconds', [0.1], 0.2), BUSY, 'met'],
    ['a ratio of times on a busy machine is noisy', figure('time ratio', [1.1], 1.2), BUSY, 'noisy'],
    ['a CPU ratio above the goal on a busy machine is noisy', figure('CPU ratio', [1.3], 1.2), BUSY, 'noisy'],
    ['memory is judged on a busy machine', figure('memory', [170], 160), BUSY, 'missed'],
    ['requests are judged on a busy machine', figure('count', [502], 501), BUSY, 'missed'],
    ['a figure without a goal has no verdict', figure('seconds', [1]), QUIET, ''],
  ])('%s', (_title, subject, conditions, verdict) => {
    expect(judge(subject, conditions)).toBe(verdict);
  });
});

describe('comparison with the baseline', () => {
  test.each<readonly [string, Figure, number | undefined, Conditions, boolean]>([
    ['a CPU ratio that is worse in every run', figure('CPU ratio', [2.6, 2.7, 3]), 2, QUIET, true],
    ['a CPU ratio that is much worse on a busy machine', figure('CPU ratio', [3.1]), 2, BUSY, true],
    ['a CPU ratio within twice the tolerance on a busy machine', figure('CPU ratio', [2.9]), 2, BUSY, false],
    ['a CPU ratio within the tolerance', figure('CPU ratio', [2.4]), 2, QUIET, false],
    ['a CPU ratio that one run reaches', figure('CPU ratio', [2.4, 2.9, 3]), 2, QUIET, false],
    ['a time ratio that is worse', figure('time ratio', [1.8]), 1.2, QUIET, true],
    ['a time ratio that is worse on a busy machine', figure('time ratio', [1.8]), 1.2, BUSY, false],
    ['memory that grew', figure('memory', [150]), 120, QUIET, true],
    ['one more request', figure('count', [2]), 1, QUIET, true],
    ['a time', figure('seconds', [9]), 1, QUIET, false],
    ['a figure without a baseline', figure('CPU ratio', [9]), undefined, QUIET, false],
  ])('%s', (_title, subject, baseline, conditions, expected) => {
    expect(isRegression(subject, baseline, conditions)).toBe(expected);
  });

  test('the table marks a regression, and accepting the results removes the mark', () => {
    const figures = [figure('CPU ratio', [2.61, 2.72, 3]), { ...figure('seconds', [1], 2), name: 'wall' }];
    const results: readonly CaseResult[] = [
      { name: 'create', status: 'measured', error: null, conditions: QUIET, figures },
      { name: 'load', status: 'failed', error: 'no disk', conditions: QUIET, figures: [] },
    ];
    const baseline = { create: { figure: 2 }, load: { cold: 1 } };
    const table = renderTable(results, baseline);
    expect(table).toMatch(
      /^\| create +\| figure +\| +\| 2\.72 x +\| 2\.61 x – 3 x +\| 2 x +\| 1\.0 \/ 0\.0 +\| regressed \|$/m,
    );
    expect(table).toMatch(/^\| load .*\| failed +\|$/m);
    const accepted = acceptResults(baseline, results);
    expect(accepted).toEqual({ create: { figure: 2.72 }, load: { cold: 1 } });
    expect(renderTable(results, accepted)).not.toContain('regressed');
  });
});

test('a ratio of times from a busy machine is not accepted as a baseline', () => {
  const figures = [
    { ...figure('time ratio', [2]), name: 'wall over floor' },
    { ...figure('CPU ratio', [3]), name: 'CPU over floor' },
  ];
  const results = [{ name: 'create', status: 'measured', error: null, conditions: BUSY, figures }] as const;
  expect(acceptResults({ create: { 'wall over floor': 1.2, 'CPU over floor': 4 } }, results)).toEqual({
    create: { 'wall over floor': 1.2, 'CPU over floor': 3 },
  });
});
