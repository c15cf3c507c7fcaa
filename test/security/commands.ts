/** Runs the commands on hostile repositories, with secrets around them, and checks what they print, send and start. */
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import type { Ended } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { type Recording, recordRequests } from './recording-proxy.ts';
import { type Attack, CANARIES, type Canary, Scene } from './scene.ts';

/** Environment of a job, for every process that it starts. */
const JOB = {
  CANARY: CANARIES.environment,
  OCTAVO_TOKEN: CANARIES.environment,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
} as const;

/** A machine that plans hostile repositories. */
export class Target implements AsyncDisposable {
  readonly scene: Scene;
  readonly #work: Workspace;
  readonly #recording: Recording;
  readonly #snapshot: string;
  readonly #before = { ...process.env };
  #repositories = 0;

  private constructor(work: Workspace, recording: Recording) {
    this.scene = new Scene();
    this.#work = work;
    this.#recording = recording;
    this.#snapshot = join(work.folder, 'snapshot.json');
  }

  static async open(): Promise<Target> {
    const work = await openWorkspace();
    const target = new Target(work, await recordRequests(work.emulator.url));
    Object.assign(process.env, JOB);
    const taken = await target.run(work.repository.directory, 'snapshot', '--out', target.#snapshot);
    expect(taken).toMatchObject({ code: 0 });
    return target;
  }

  /** Runs a command as a job would; throws if it prints a secret or terminal control characters. */
  async run(root: string, ...args: string[]): Promise<Ended> {
    const env = { OCTAVO_BASE_URL: this.#recording.url, CANARY: CANARIES.environment };
    const ended = await this.#work.inside(args, env, relative(this.#work.repository.directory, root));
    mustBeClean(ended.stdout + ended.stderr);
    return ended;
  }

  /**
   * Tries one attack on every command that reads manifests, and on those that read commits unless it is only about
   * text.
   */
  async checkAttack(
    { set, name, folder = 'manifests', validate = 0, says = '' }: Attack,
    { isOnlyText = false }: { readonly isOnlyText?: boolean } = {},
  ): Promise<void> {
    this.#repositories += 1;
    const repository = `r${this.#repositories}`;
    const root = this.scene.make({ set, name }, repository);
    const checked = await this.run(root, 'validate', folder);
    if (validate !== null) {
      expect(checked, name).toMatchObject({ code: validate });
    }
    expect(checked.stderr + checked.stdout).toMatch(says);
    await this.run(root, 'plan', folder, '--format', 'markdown', ...(isOnlyText ? [] : ['--base', 'HEAD~1']));
    if (!isOnlyText) {
      await this.run(root, 'plan', folder, '--base', 'applied', '--snapshot', this.#snapshot);
      await this.run(root, 'import', '--drift', '--dry-run', '--out', folder);
    }
    await this.run(root, 'apply', folder, '--yes');
    expect(this.scene.ran(), 'repositories whose commands ran').not.toContain(repository);
  }

  /** Throws if a command of any repository ran, or if a request had a secret. */
  mustBeUnharmed(): void {
    expect(this.scene.ran(), 'repositories whose commands ran').toEqual([]);
    mustHaveNoCanary(this.#recording.text());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of Object.keys(JOB)) {
      delete process.env[name];
    }
    Object.assign(process.env, this.#before);
    await this.#recording.close();
    await this.#work[Symbol.asyncDispose]();
    this.scene.remove();
  }
}

/** Throws if a text has a secret other than those permitted. */
export function mustHaveNoCanary(text: string, permitted: readonly Canary[] = []): void {
  for (const [name, canary] of Object.entries(CANARIES)) {
    const isSeen = !permitted.includes(name as Canary) && text.includes(canary);
    expect(isSeen, `the canary ${name} is shown or sent`).toBe(false);
  }
}

/** Throws if the output has a secret, a stack trace, or terminal control characters. */
function mustBeClean(shown: string): void {
  mustHaveNoCanary(shown);
  expect(shown).not.toContain('unexpected:');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal control characters
  expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
}
