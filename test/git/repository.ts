/** Creates real git repositories for tests. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execFileSync } from '../support/programs.ts';

/** A real repository for the tests, in a folder of its own. */
export interface TestRepository {
  readonly directory: string;
  git(...args: string[]): string;
  write(path: string, content: string | Uint8Array): void;
  /** Writes files, commits everything, and returns the commit's id. */
  commit(message: string, files?: Readonly<Record<string, string | Uint8Array>>): string;
}

/** Creates a temporary folder, in memory where the system can: git creates many small files. The caller removes it. */
export function makeFolder(): string {
  return realpathSync(mkdtempSync(join(process.env.OCTAVO_TEST_MEMORY ?? tmpdir(), 'octavo-git-')));
}

/** Settings of every run: `file:` transports, and no maintenance, which is a second process after each commit. */
const SETTINGS = ['protocol.file.allow=always', 'maintenance.auto=false', 'gc.auto=0'];

/** Runs the real git with an identity, and without the machine's own settings. */
export function runGit(directory: string, args: readonly string[], env: Record<string, string> = {}): string {
  return execFileSync('git', [...SETTINGS.flatMap((setting) => ['-c', setting]), ...args], {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Ana',
      GIT_AUTHOR_EMAIL: 'ana@acme.example',
      GIT_COMMITTER_NAME: 'Ana',
      GIT_COMMITTER_EMAIL: 'ana@acme.example',
      ...env,
    },
  });
}

/** Creates a repository with the branch `main` and no commit: what `git init` writes, without a process. */
export function makeRepository(directory: string): TestRepository {
  const gitDir = join(directory, '.git');
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']) {
    mkdirSync(join(gitDir, folder), { recursive: true });
  }
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(
    join(gitDir, 'config'),
    '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n',
  );
  const git = (...args: string[]) => runGit(directory, args).trim();
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  };
  return {
    directory,
    git,
    write,
    commit: (message, files = {}) => {
      for (const [path, content] of Object.entries(files)) {
        write(path, content);
      }
      git('add', '--all');
      git('commit', '--quiet', '--allow-empty', '-m', message);
      const head = readFileSync(join(gitDir, 'HEAD'), 'utf8').trim();
      // A commit leaves its branch in a file of its own, even if the ref was packed.
      return head.startsWith('ref: ') ? readFileSync(join(gitDir, head.slice(5)), 'utf8').trim() : head;
    },
  };
}
