/** Runs the steps of CI examples as the runners of GitHub and GitLab do. */
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeRepository, runGit } from '../git/repository.ts';
import { checkOutput, type Ended } from './octavo-process.ts';
import { spawn } from './programs.ts';

const BIN = fileURLToPath(new URL('../../bin/octavo.js', import.meta.url));

/** A step of a workflow or of an action. */
export interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A machine that a CI job runs on: a folder to check out into, a home, and the commands that the jobs install. */
export interface CiMachine {
  readonly folder: string;
  readonly checkout: string;
  /** Variables that every step has. */
  readonly env: Readonly<Record<string, string>>;
  /** Values for `${{ … }}`; an expression without a value is an error. */
  readonly expressions: Readonly<Record<string, string>>;
}

/** Result of a job. */
export interface JobEnd extends Ended {
  /** Actions that the job used, with their inputs. No other action may be used. */
  readonly used: readonly { readonly uses: string; readonly with: Readonly<Record<string, string>> }[];
}

/**
 * Sets up a machine in a folder. Its `npm` records its arguments. `OCTAVO_SOURCE` and `OCTAVO_COMMIT` are what a reader
 * of the examples sets: a repository whose `octavo` is the one of this checkout.
 */
export function makeMachine(folder: string, env: Readonly<Record<string, string>>): Omit<CiMachine, 'expressions'> {
  const commands = join(folder, 'commands');
  for (const path of [commands, join(folder, 'temp'), join(folder, 'home')]) {
    mkdirSync(path, { recursive: true });
  }
  const command = (name: string, script: string) => {
    writeFileSync(join(commands, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(commands, name), 0o755);
  };
  command('node', `exec "${process.execPath}" "$@"`);
  command('npm', `echo "npm $*" >> "${join(folder, 'npm.log')}"`);
  for (const name of ['summary.md', 'output', 'path', 'npm.log']) {
    writeFileSync(join(folder, name), '');
  }
  const source = makeRepository(join(folder, 'octavo'));
  source.write('bin/octavo.js', `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  chmodSync(join(folder, 'octavo', 'bin', 'octavo.js'), 0o755);
  return {
    folder,
    checkout: join(folder, 'checkout'),
    env: {
      OCTAVO_SOURCE: `file://${source.directory}`,
      OCTAVO_COMMIT: source.commit('Octavo'),
      PATH: `${commands}:${process.env.PATH}`,
      HOME: join(folder, 'home'),
      TMPDIR: join(folder, 'temp'),
      RUNNER_TEMP: join(folder, 'temp'),
      GITHUB_PATH: join(folder, 'path'),
      GITHUB_OUTPUT: join(folder, 'output'),
      GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      ...env,
    },
  };
}

/**
 * Runs the steps of a GitHub job as its runner does: one shell per step, variables from `env`, outputs through a file.
 * After a failed step, only steps that always run are run.
 */
export async function runSteps(steps: readonly Step[], machine: CiMachine, shell?: string): Promise<JobEnd> {
  const ended = { code: 0 as number | null, stdout: '', stderr: '' };
  const used: { uses: string; with: Record<string, string> }[] = [];
  const expressions: Record<string, string> = { ...machine.expressions };
  for (const step of steps) {
    const isDue = ended.code === 0 || /always\(\)/.test(step.if ?? '');
    if (isDue && step.uses !== undefined) {
      const given = filled(step.with ?? {}, expressions);
      used.push({ uses: step.uses, with: given });
      useAction(step.uses, given, machine);
    } else if (isDue && step.run !== undefined) {
      const env = { ...machine.env, ...filled(step.env ?? {}, expressions), PATH: pathOf(machine) };
      // Only variables may pass values into a script: an expression would become part of the script.
      const script = step.run.includes('${{') ? 'echo "an expression in a script"; exit 99' : step.run;
      const { code, stdout, stderr } = await runScript(script, step.shell ?? shell, machine, env);
      ended.code = ended.code === 0 ? code : ended.code;
      ended.stdout += stdout;
      ended.stderr += stderr;
      Object.assign(expressions, outputsOf(step.id, machine));
    }
  }
  return { ...checkOutput(ended), used };
}

/** Variables of earlier steps take precedence. */
function pathOf({ folder, env }: CiMachine): string {
  const added = readFileSync(join(folder, 'path'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return [...added.toReversed(), env.PATH ?? ''].join(':');
}

function useAction(uses: string, given: Readonly<Record<string, string>>, { checkout, env }: CiMachine): void {
  if (uses.startsWith('actions/checkout@')) {
    const depth = given['fetch-depth'] === '0' ? [] : ['--depth=1'];
    const origin = env.ORIGIN ?? '';
    mkdirSync(checkout, { recursive: true });
    runGit(checkout, ['init', '--quiet', '--template=']);
    runGit(checkout, ['remote', 'add', 'origin', `file://${origin}`]);
    // A checkout of the whole history fetches all branches; otherwise only the commit.
    const wanted = given.ref ?? env.GITHUB_SHA ?? '';
    const what = depth.length === 0 ? ['+refs/heads/*:refs/remotes/origin/*'] : [];
    runGit(checkout, ['fetch', '--quiet', '--no-tags', ...depth, 'origin', ...what, wanted]);
    runGit(checkout, ['checkout', '--quiet', '--detach', wanted]);
  }
}

/**
 * Command line as the runner starts it: a named shell fails if any part of a pipe fails; the default shell does not.
 */
async function runScript(
  script: string,
  shell: string | undefined,
  machine: CiMachine,
  env: Readonly<Record<string, string>>,
) {
  const file = join(machine.folder, 'step.sh');
  writeFileSync(file, script);
  const args = shell === 'bash' ? ['--noprofile', '--norc', '-eo', 'pipefail', file] : ['-e', file];
  const child = spawn('bash', args, { cwd: machine.checkout, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

function outputsOf(id: string | undefined, { folder }: CiMachine): Record<string, string> {
  const lines = readFileSync(join(folder, 'output'), 'utf8').split('\n');
  const pairs = lines.filter((line) => line.includes('=')).map((line) => line.split(/=(.*)/s));
  return Object.fromEntries(pairs.map(([name, value = '']) => [`steps.${id}.outputs.${name}`, value]));
}

/** Values with their expressions evaluated. */
export function filled(
  values: Readonly<Record<string, unknown>>,
  expressions: Readonly<Record<string, string>>,
): Record<string, string> {
  const fill = (text: string) =>
    text.replaceAll(/\$\{\{\s*([^}]+?)\s*\}\}/g, (_all, expression: string) => {
      const value = expressions[expression];
      if (value === undefined) {
        throw new Error(`nothing says what ${expression} is`);
      }
      return value;
    });
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fill(String(value))]));
}

/**
 * Runs the lines of a GitLab job: `before_script`, `script`, and then `after_script`, whether or not the others failed.
 */
export async function runGitLabJob(
  job: {
    readonly before_script: readonly string[];
    readonly script: readonly string[];
    readonly after_script: readonly string[];
  },
  machine: CiMachine,
): Promise<Ended> {
  const main = await runScript([...job.before_script, ...job.script].join('\n'), undefined, machine, machine.env);
  const after = await runScript(job.after_script.join('\n'), undefined, machine, machine.env);
  return checkOutput({ code: main.code, stdout: main.stdout, stderr: main.stderr + after.stderr });
}
