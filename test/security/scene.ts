/** Creates hostile repositories, each from the same harmless one, with secrets around it that must not be shown. */
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, makeRepository, runGit } from '../git/repository.ts';
import { execFileSync } from '../support/programs.ts';

/**
 * Secrets around a repository: in the environment, in its `.git/config`, in a file outside, and in an untracked file.
 */
export const CANARIES = {
  environment: 'canary-env-7d1c5e',
  credential: 'canary-git-2b8f90',
  outside: 'canary-file-a41e37',
  untracked: 'canary-job-93be52',
} as const;

export type Canary = keyof typeof CANARIES;

/** A hostile repository. Its manifests are below `manifests`, and its last commit is on `main`. */
export interface Trap {
  readonly root: string;
  readonly manifests: string;
  /** A shell command that leaves evidence of its execution, with its environment. */
  readonly command: string;
  /** A file outside of the repository, with a secret. */
  readonly outside: string;
  git(...args: string[]): string;
  /** Like `git`, with an input. */
  feed(input: string | Uint8Array, ...args: string[]): string;
  write(path: string, content: string | Uint8Array): void;
  link(path: string, target: string): void;
  /** Creates an executable that leaves evidence, and returns its path. */
  program(path: string): string;
  commit(): void;
}

/** An attack on anyone who plans a repository. */
export interface Attack {
  readonly name: string;
  readonly set: (trap: Trap) => void;
  /** The exit code of `validate`, 0 by default; null: any. */
  readonly validate?: number | null;
  /** Expected in the output of `validate`. */
  readonly says?: string | RegExp;
  /** The planned folder; `manifests` by default. */
  readonly folder?: string;
}

/** Manifests of every hostile repository. */
const MANIFEST = 'teams:\n  writers: { title: Writers }\n';

/** A place for hostile repositories. */
export class Scene {
  readonly folder = makeFolder();
  readonly #evidence = join(this.folder, 'evidence');
  readonly #template = join(this.folder, 'template');
  readonly #outside = join(this.folder, 'outside.txt');

  constructor() {
    mkdirSync(this.#evidence);
    writeFileSync(this.#outside, `secret: ${CANARIES.outside}\n`);
    const repository = makeRepository(this.#template);
    repository.commit('First', { '.gitignore': 'job.*\n', 'manifests/teams.yaml': MANIFEST });
    repository.commit('Second', { 'manifests/teams.yaml': `${MANIFEST}  readers: { title: Readers }\n` });
    for (const [key, value] of [
      ['http.https://git.example/.extraheader', `AUTHORIZATION: basic ${CANARIES.credential}`],
      ['user.name', 'Ana'],
      ['user.email', 'ana@acme.example'],
    ] as const) {
      repository.git('config', key, value);
    }
    repository.write('manifests/job.env', `SECRET=${CANARIES.untracked}\n`);
  }

  /** Creates the repository of an attack, and returns its folder. */
  make(attack: Attack, name: string): string {
    const root = join(this.folder, 'repositories', name);
    cpSync(this.#template, root, { recursive: true });
    attack.set(this.#trapAt(root, name));
    this.forget(name);
    return root;
  }

  /** Removes the evidence of one repository, such as that of the git process that prepares the attack. */
  forget(name: string): void {
    rmSync(join(this.#evidence, name), { force: true });
  }

  /** Names of the repositories whose commands ran. */
  ran(): readonly string[] {
    return readdirSync(this.#evidence);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #trapAt(root: string, name: string): Trap {
    const evidence = join(this.#evidence, name);
    const command = `env > '${evidence}'`;
    const write = (path: string, content: string | Uint8Array) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    };
    const git = (...args: string[]) => runGit(root, args).trim();
    return {
      root,
      manifests: join(root, 'manifests'),
      command,
      outside: this.#outside,
      git,
      feed: (input, ...args) => execFileSync('git', args, { cwd: root, input, encoding: 'utf8', stdio: 'pipe' }).trim(),
      write,
      link: (path, target) => {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        symlinkSync(target, join(root, path));
      },
      program: (path) => {
        write(path, `#!/bin/sh\n${command}\n`);
        chmodSync(join(root, path), 0o755);
        return join(root, path);
      },
      commit: () => {
        git('-c', 'core.hooksPath=/dev/null', 'add', '--all', '--force', '--', '.', ':!*job.env');
        git(
          '-c',
          'core.hooksPath=/dev/null',
          '-c',
          'commit.gpgSign=false',
          'commit',
          '--quiet',
          '--allow-empty',
          '-m',
          name,
        );
      },
    };
  }
}

/** Adds settings to a configuration file of git, without a process for each. */
export function addSettings(file: string, settings: Readonly<Record<string, string>>): void {
  const lines = Object.entries(settings).map(([key, value]) => {
    const [section = '', ...rest] = key.split('.');
    const name = rest.pop() ?? '';
    const heading = rest.length === 0 ? section : `${section} "${rest.join('.')}"`;
    return `[${heading}]\n\t${name} = ${JSON.stringify(value)}\n`;
  });
  appendFileSync(file, lines.join(''));
}

/** A bare repository below a folder of the attack; all its settings and attributes that can name a command do so. */
export function embedBare(
  trap: Trap,
  folder: string,
  settings: Readonly<Record<string, string>>,
  hasManifest = true,
): void {
  const at = join(trap.root, folder);
  mkdirSync(at, { recursive: true });
  runGit(trap.root, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', at]);
  addSettings(join(at, 'config'), settings);
  const blob = trap.feed('other\n', '--git-dir', at, 'hash-object', '-w', '--stdin');
  trap.feed(`100644 ${blob} 0\tteams.yaml\n`, '--git-dir', at, 'update-index', '--index-info');
  const tree = trap.git('--git-dir', at, 'write-tree');
  const commit = trap.git('--git-dir', at, '-c', 'user.name=E', '-c', 'user.email=e@x', 'commit-tree', tree, '-m', 'x');
  trap.git('--git-dir', at, 'update-ref', 'refs/heads/main', commit);
  if (hasManifest && !existsSync(join(at, 'teams.yaml'))) {
    writeFileSync(join(at, 'teams.yaml'), MANIFEST);
  }
}

/**
 * Commits a tree that git itself would not create: `entries` are lines of `git ls-tree -z`, added at the end of a
 * folder.
 */
export function commitTree(trap: Trap, entries: readonly (string | Uint8Array)[], folder = 'manifests'): void {
  const raw = Buffer.concat(entries.map((entry) => Buffer.concat([Buffer.from(entry), Buffer.from('\0')])));
  const listed = execFileSync('git', ['ls-tree', '-z', `HEAD:${folder}`], { cwd: trap.root });
  const inner = trap.feed(Buffer.concat([listed, raw]), 'mktree', '-z', '--missing');
  const outer = execFileSync('git', ['ls-tree', '-z', 'HEAD'], { cwd: trap.root, encoding: 'utf8' })
    .split('\0')
    .map((line) => (line.endsWith(`\t${folder}`) ? `040000 tree ${inner}\t${folder}` : line))
    .join('\0');
  commitRoot(trap, trap.feed(outer, 'mktree', '-z'));
}

/** Points `main` to a commit of this tree; the work tree and the index do not change. */
export function commitRoot(trap: Trap, tree: string): void {
  const commit = trap.git('commit-tree', tree, '-p', 'HEAD', '-m', 'Crafted');
  trap.git('update-ref', 'refs/heads/main', commit);
}

/** A blob of the attack's repository. */
export function blobOf(trap: Trap, content: string | Uint8Array): string {
  return trap.feed(content, 'hash-object', '-w', '--stdin');
}
