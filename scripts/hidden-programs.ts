/**
 * Hides one program after the other and runs the test files that need it: `npx node scripts/hidden-programs.ts [program …]`.
 * Prints a table of each program with its passed, skipped and failed tests, and fails if a test fails.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPTIONAL_PROGRAMS, spawnSync } from '../test/support/programs.ts';

/** Programs that no test may need, in addition to those that tests can do without. */
const UNUSED = ['curl', 'jq', 'openssl', 'ssh', 'tmux', 'unzip'];

/** Milliseconds after which the tests without one program are ended. */
const LIMIT = 1_800_000;

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Returns the test files that name a program in a string or import a file that does. */
function findTests(program: string): readonly string[] {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const sources = new Map(
    files.map((path) => [join(ROOT, 'test', path), readFileSync(join(ROOT, 'test', path), 'utf8')]),
  );
  const name = new RegExp(`['"\`]${program}\\b`);
  const found = new Set(
    [...sources.keys()].filter((path) => !path.endsWith('/programs.ts') && name.test(sources.get(path) ?? '')),
  );
  for (const path of found) {
    // Also visits what is added here.
    for (const [reader, source] of sources) {
      const imports = [...source.matchAll(/from '(\.[^']*)'/g)].map((match) => join(reader, '..', match[1] ?? ''));
      if (imports.includes(path)) {
        found.add(reader);
      }
    }
  }
  return [...found].filter((path) => path.endsWith('.test.ts')).map((path) => relative(ROOT, path));
}

/** Creates a folder of links to all programs of the PATH but one. */
function hide(program: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-hidden-'));
  const folders = (process.env.PATH ?? '').split(delimiter).filter((path) => path !== '');
  const linked = new Set([program]);
  for (const from of folders) {
    for (const name of listFolder(from).filter((each) => !linked.has(each))) {
      linked.add(name);
      symlinkSync(join(from, name), join(folder, name));
    }
  }
  return folder;
}

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Runs the tests without the program; returns a line of the table. */
function runWithout(program: string): { readonly line: string; readonly hasFailed: boolean } {
  const tests = findTests(program);
  if (tests.length === 0) {
    return { line: `| ${program} | no test names it | | | |`, hasFailed: false };
  }
  const path = hide(program);
  const results = join(path, 'octavo-results.json');
  const { CI: _, ...env } = process.env;
  const { error } = spawnSync(process.execPath, ['scripts/test.ts', ...tests], {
    cwd: ROOT,
    env: { ...env, PATH: path, OCTAVO_HIDDEN_PROGRAM: program, TEST_RESULTS: results },
    stdio: ['ignore', 2, 2],
    timeout: LIMIT,
  });
  try {
    const { numPassedTests, numPendingTests, numFailedTests, testResults } = JSON.parse(readFileSync(results, 'utf8'));
    const broken = testResults.filter(
      (file: { status: string; assertionResults: unknown[] }) =>
        file.status === 'failed' && file.assertionResults.length === 0,
    ).length;
    const failed = numFailedTests + broken;
    return {
      line: `| ${program} | ${tests.length} | ${numPassedTests} | ${numPendingTests} | ${failed} |`,
      hasFailed: failed > 0,
    };
  } catch {
    return {
      line: `| ${program} | ${tests.length} | | | did not end: ${error?.message ?? 'no results'} |`,
      hasFailed: true,
    };
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

const named = process.argv.slice(2);
process.stdout.write('| program | files | passed | skipped | failed |\n|---|---|---|---|---|\n');
for (const program of named.length > 0 ? named : [...OPTIONAL_PROGRAMS, ...UNUSED]) {
  const { line, hasFailed } = runWithout(program);
  process.stdout.write(`${line}\n`);
  process.exitCode = hasFailed ? 1 : process.exitCode;
}
