/**
 * Checks that `npm test` runs before the tests: types, lint, unused code, the table of operations and the build, all at once. Prints the output
 * of those that fail.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

const CHECKS = ['types', 'lint', 'dead', 'operations', 'build'];

/** Runs an npm script; returns false if it fails. */
async function run(script: string): Promise<boolean> {
  const start = performance.now();
  const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.on('exit', resolve).on('error', reject));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(`${code === 0 ? 'passed' : 'FAILED'}  npm run ${script} (${seconds} s)\n`);
  if (code !== 0) {
    process.stdout.write(`${stdout}${stderr}\n`);
  }
  return code === 0;
}

const passed = await Promise.all(CHECKS.map(run));
process.exitCode = passed.every(Boolean) ? 0 : 1;
