/** Test setup with a platform, a repository and processes of Octavo. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Terminal } from '../../src/commands/cli/context.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/emulator.ts';
import { makeFolder, makeRepository, type TestRepository } from '../git/repository.ts';
import { callPlatform } from './call-platform.ts';
import { OctavoInside } from './octavo-inside.ts';
import { type Ended, eventually, OctavoProcess, type OctavoRun, octavo, TOKEN } from './octavo-process.ts';

export interface DaemonSettings {
  /** Overrides of the organization's settings. */
  readonly organization?: Readonly<Record<string, unknown>>;
  /** Additional organizations. */
  readonly others?: readonly Readonly<Record<string, unknown>>[];
  /** Overrides of the whole configuration. */
  readonly top?: Readonly<Record<string, unknown>>;
  readonly name?: string;
}

/** Drift is detected on request (SIGHUP) or never, unless a test sets it. */
const NEVER = '0 0 1 1 *';

/** Creates a workspace; processing on its platform takes no time. */
export async function openWorkspace(options: EmulatorOptions = {}): Promise<Workspace> {
  const folder = makeFolder();
  const emulator = await startEmulator({ token: TOKEN, processing: { openapi: 0, translation: 0 }, ...options });
  return new Workspace(folder, emulator);
}

/** A platform, a repository, and processes of Octavo, which are killed with it. */
export class Workspace implements AsyncDisposable {
  readonly folder: string;
  readonly emulator: Emulator;
  readonly repository: TestRepository;
  /** Environment that a user exports. */
  readonly env: Readonly<Record<string, string>>;
  readonly #begun: OctavoRun[] = [];

  constructor(folder: string, emulator: Emulator) {
    this.folder = folder;
    this.emulator = emulator;
    this.repository = makeRepository(join(folder, 'repository'));
    this.env = {
      OCTAVO_BASE_URL: emulator.url,
      OCTAVO_TOKEN: TOKEN,
      OCTAVO_ORGANIZATION: emulator.organization,
    };
  }

  /** Runs a command in the repository. */
  run(...args: string[]): Promise<Ended> {
    return octavo(args, { cwd: this.repository.directory, env: this.env });
  }

  /**
   * Runs a command in this process, with the repository or a folder of it as working directory: faster, for tests that
   * do not need a process. `terminal` overrides the terminal.
   */
  async inside(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    folder = '.',
    terminal: Partial<Terminal> = {},
  ): Promise<Ended> {
    return this.#inside(args, { ...this.env, ...env }, join(this.repository.directory, folder), terminal).ended;
  }

  /** Starts a command in this process, in that folder. */
  beginInside(...args: string[]): OctavoInside {
    return this.#inside(args, this.env, this.folder, {});
  }

  #inside(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    cwd: string,
    terminal: Partial<Terminal>,
  ): OctavoInside {
    const run = new OctavoInside(args, { cwd, env, terminal, secrets: [TOKEN] });
    this.#begun.push(run);
    return run;
  }

  /** Starts a process in that folder. */
  begin(...args: string[]): OctavoProcess {
    const begun = new OctavoProcess(args, { cwd: this.folder, env: this.env });
    this.#begun.push(begun);
    return begun;
  }

  /** Writes the configuration of a daemon that follows the repository, and returns its path. */
  configure({ organization = {}, others = [], top = {}, name = 'config.yaml' }: DaemonSettings = {}): string {
    const path = join(this.folder, name);
    const settings = {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: syntax of a variable in the configuration
      platform: { baseUrl: this.emulator.url, token: '${env:OCTAVO_TOKEN}' },
      organizations: [
        {
          id: this.emulator.organization,
          source: { git: { url: this.repository.directory, pollInterval: '100ms' } },
          schedule: { drift: NEVER },
          ...organization,
        },
        ...others.map((other) => ({ schedule: { drift: NEVER }, ...other })),
      ],
      store: { path: join(this.folder, 'state', 'octavo.db') },
      server: { listen: '127.0.0.1:0' },
      log: { level: 'debug', format: 'json' },
      ...top,
    };
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(path, JSON.stringify(settings));
    return path;
  }

  /** Titles of the teams on the platform. */
  teams(): readonly string[] {
    const { organization } = this.emulator;
    const { teams = [] } = this.emulator.state() as unknown as { teams?: { title: string; organization: string }[] };
    return teams
      .filter((team) => team.organization === organization)
      .map((team) => team.title)
      .sort();
  }

  /** Waits until the platform has exactly these teams. */
  async untilTeams(...titles: string[]): Promise<void> {
    const wanted = titles.toSorted().join();
    await eventually(`the teams ${wanted}`, () => this.teams().join() === wanted).catch((error: Error) => {
      const logs = this.#begun.map((begun) => begun.stderr).join('\n');
      throw new Error(`${error.message}; there are ${this.teams().join()}\n${logs}`);
    });
  }

  /** Requests other than reads. */
  writes(): number {
    const { total, byMethod } = this.emulator.requests;
    return total - (byMethod.GET ?? 0);
  }

  /** Sends a request out of band, below the organization. */
  call(method: string, path: string, body?: unknown): ReturnType<typeof callPlatform> {
    return callPlatform(this.emulator, method, path, body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#begun.map((begun) => begun.stop('SIGKILL')));
    await this.emulator.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
